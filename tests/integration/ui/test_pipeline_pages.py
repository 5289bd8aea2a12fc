"""The pages of ``kafka ui`` for pipelines, in a browser: they follow the events, and work without scripts."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.chromium import open_page
from harness.web_ui import web_ui
from kafka.broker import EmbeddedBroker
from kafka.pipelines.events import EventFile
from unit.pipelines.sample_events import NAME, Sample, several_runs

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a pipeline that ran several times."""
    path: Path = tmp_path_factory.mktemp("project")
    file = EventFile(path / "checkpoints" / NAME / "events", "0001")
    for event in several_runs():
        file.append(event)
    return path


@pytest.fixture(scope="module")
def address(project: Path) -> Iterator[str]:
    """The UI's address."""
    with (
        EmbeddedBroker() as broker,
        web_ui("--interval", "0.5", "-b", broker.bootstrap_servers, "--pipelines", str(project)) as ui,
    ):
        yield ui.address


def test_a_page_follows_a_running_pipeline(chromium: Path, address: str, project: Path) -> None:
    """The text of the page's live part changes without loading the page again."""
    file = EventFile(project / "checkpoints" / "growing" / "events", "0001")
    sample = Sample(pipeline="growing").run(5, ending=None)
    for event in sample.events:
        file.append(event)
    is_over = threading.Event()

    def write() -> None:
        while not is_over.wait(0.1):
            sample.run(1, ending=None)
            file.append(sample.events[-1])

    writer = threading.Thread(target=write)
    writer.start()
    try:
        changes = "(window.first ??= document.body.innerText) !== document.body.innerText"
        page = open_page(chromium, f"{address}pipeline?name=growing", ready=changes)
    finally:
        is_over.set()
        writer.join()
    assert page.errors == []
    assert page.title.startswith("Pipeline growing")
    assert sum("/pipeline?" in each for each in page.requests) == 2, "the page itself and its event stream"
    page = open_page(chromium, f"{address}pipelines", ready="document.body.innerText.includes('growing')")
    assert NAME in page.text


@pytest.mark.parametrize(("width", "dark"), [(1400, False), (360, True)])
def test_a_pipeline_fits_the_window_without_scripts(chromium: Path, address: str, width: int, dark: bool) -> None:
    where = f"{address}pipeline?name={NAME}"
    page = open_page(chromium, where, scripts=False, width=width, dark=dark)
    assert "Lag after each micro-batch" in page.text
    assert "kafka pipeline replay" in page.text
    assert page.errors == []
    readable = "[...document.querySelectorAll('main tbody th')].every((each) => each.offsetWidth >= 90)"
    ready = f"document.documentElement.scrollWidth <= innerWidth && {readable}"
    fits = open_page(chromium, where, ready=ready, width=width, timeout_s=60)
    assert fits.errors == []
    assert all(each.startswith(address) for each in fits.requests)
