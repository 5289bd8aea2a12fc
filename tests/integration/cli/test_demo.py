"""The demo, from end to end, on the embedded broker and on Apache Kafka, as a user runs it."""

import pathlib
import re
import subprocess
import sys

import pytest

from harness.chromium import open_page
from harness.tools import quick_java
from kafka.broker import EmbeddedBroker
from kafka.pipelines.events import read_events

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]
FLIGHTS = 20_000

Run = tuple[subprocess.CompletedProcess[str], pathlib.Path]


def demo(*arguments: str, cwd: pathlib.Path) -> subprocess.CompletedProcess[str]:
    """Run the demo; its JVMs are made to start quickly."""
    command = [sys.executable, "-m", "kafka", "demo", "--flights", str(FLIGHTS), *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=900, check=False, env=quick_java())


def assert_told(done: subprocess.CompletedProcess[str]) -> None:
    """The driver was killed and another went on, and each record is accounted for."""
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    told = re.search(r"Killed the driver \(kill -9\) .*, after ([\d,]+) of 20,070 records", done.stdout)
    assert told is not None, done.stdout
    assert 0 < int(told[1].replace(",", "")) < FLIGHTS
    assert "Restarted" in done.stdout
    assert "The audit balances: 20,070 records = 20,000 results + 60 dead letters + 10 dropped." in done.stdout
    assert "Each of the 20,000 real flights is in the results exactly once" in done.stdout


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run on a broker of the demo's own, and its folder."""
    folder = tmp_path_factory.mktemp("demo")
    return demo(cwd=folder), folder / "demo-output"


def test_the_demo_runs_on_a_broker_of_its_own(run: Run) -> None:
    done, output = run
    assert_told(done)
    assert done.stdout.splitlines()[-1] == f"Report: {output / 'report.html'}"
    events = read_events(output / "checkpoints" / "flights" / "events")
    assert [each.run for each in events if each.kind == "start"] == ["stream", "stream", "replay"]


def test_a_browser_shows_the_report_of_a_run(chromium: pathlib.Path, run: Run) -> None:
    report = (run[1] / "report.html").as_uri()
    page = open_page(chromium, report, height=1_600)
    assert page.errors == []
    assert page.requests == [report]
    for text in ("Pipeline flights", "delay is plausible", "killed", "replay 1", "flights_dead"):
        assert text in page.text


@pytest.mark.exhaustive  # the run above takes the same steps, on a broker of its own
@pytest.mark.apache
def test_the_demo_runs_on_a_cluster_with_another_registry(apache_kafka: object, tmp_path: pathlib.Path) -> None:
    servers = str(apache_kafka.bootstrap_servers)  # type: ignore[attr-defined]
    given = ("--bootstrap-servers", servers, "--output", "out", "--no-report")
    with EmbeddedBroker(registry=True) as other:
        done = demo(*given, "--registry", other.registry_url, cwd=tmp_path)
    assert_told(done)
    assert re.search(r"These topics remain on the cluster: flights-\w{6}, ", done.stdout)
    assert not list(tmp_path.rglob("*.html"))


def test_a_cluster_that_cannot_be_reached_is_one_line(tmp_path: pathlib.Path) -> None:
    command = [sys.executable, "-m", "kafka", "demo", "--bootstrap-servers", "127.0.0.1:1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 3
    assert "127.0.0.1:1" in done.stderr
    assert "Traceback" not in done.stderr
