"""The pages for pipelines: their contents, their dead letters, and files that are being written."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from kafka import KafkaProducer
from kafka.broker import EmbeddedBroker
from kafka.cli.commands import commands
from kafka.consumer.bounds import WHERE_TOPICS_ARE
from kafka.errors import UnknownTopicOrPartitionError
from kafka.pipelines.events import to_json
from kafka.pipelines.record_headers import Position
from kafka.ui import pipeline_logs
from kafka.ui.pipeline_dead_letters import DeadLetterReader, dead_letter_of
from kafka.ui.pipeline_logs import PipelineLog, PipelineLogs, declaration_file
from kafka.ui.search import Found
from unit.pipelines.sample_events import NAME, Sample, several_runs
from unit.ui.ui_support import HOSTILE, Pages, pages_of, rows_of, settings, text_of

pytestmark = pytest.mark.once


def write(directory: Path, sample: Sample, first: int = 0) -> None:
    """Append events to files, a file for each run."""
    (directory / "events").mkdir(parents=True, exist_ok=True)
    for event in sample.events[first:]:
        with (directory / "events" / f"{event.run_id}.jsonl").open("a") as file:
            file.write(to_json(event) + "\n")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with two pipelines."""
    (tmp_path / "flights.yaml").write_text(f"# a comment\npipeline: {NAME}\nkafka: {{}}\n")
    sample = Sample()
    sample.events = several_runs()
    write(tmp_path / "checkpoints" / NAME, sample)
    write(tmp_path / "checkpoints" / "other", Sample(pipeline="other").run(2, ending=None))
    return tmp_path


@pytest.fixture
async def project_pages(project: Path, broker: EmbeddedBroker) -> AsyncIterator[Pages]:
    """A UI that shows the project."""
    async with pages_of(settings(broker.bootstrap_servers, pipelines=(project,))) as made:
        yield made


async def test_without_directories_the_page_says_how_to_pass_them(pages: Pages) -> None:
    assert "kafka ui --pipelines DIRECTORY" in text_of(await pages.get("/pipelines"))
    await pages.get("/pipeline", 404, name=NAME)


async def test_a_list_of_pipelines_with_their_state(project_pages: Pages) -> None:
    page = await project_pages.get("/pipelines")
    assert "data-live" in page
    first, second = rows_of(page, "Pipelines")
    stream = [each for each in several_runs() if each.kind == "batch" and each.run == "stream"]
    assert first[:2] == [NAME, "stopped"]
    assert first[3] == f"{sum(each.rows for each in stream):,}"
    assert first[5] == f"{sum(each.dead for each in stream):,}"
    assert first[-1] == "✓ balanced"
    assert second[:2] == ["other", "running or killed"]


async def test_a_pipeline_with_its_graph_charts_rules_and_runs(project_pages: Pages) -> None:
    page = await project_pages.get("/pipeline", name=NAME)
    for title in ("Rate", "Rows that fail a rule", "Lag after each micro-batch", "Duration of micro-batches"):
        assert f"<figure><figcaption>{title}" in page
    assert 'class="graph wide-chart"' in page
    assert rows_of(page, "Rules")[0][0] == "airport is ours"
    assert len(rows_of(page, "Runs")) == 5
    assert f"kafka pipeline replay {project_pages.ui.pipelines.paths[0] / 'flights.yaml'}" in text_of(page)  # type: ignore[union-attr]
    assert "style=" not in page, "the content security policy allows no inline styles"
    missing = await project_pages.get("/pipeline", 404, name=HOSTILE)
    assert f"There is no pipeline {HOSTILE!r}" in text_of(missing)
    assert "<script>" not in missing
    assert page.count('<div class="cards"><div class="wide"') == 3, "tables that become cards on phones"


async def test_dead_letters_of_this_pipeline_with_their_bytes(
    project_pages: Pages, broker: EmbeddedBroker, project: Path
) -> None:
    def headers(pipeline: str, rule: str) -> list[tuple[str, bytes]]:
        return [
            ("trace", HOSTILE.encode()),
            ("kafka.pipeline", pipeline.encode()),
            ("kafka.rule", rule.encode()),
            ("kafka.cause", b"dep_delay is 99999"),
            ("kafka.source", b"flights/3/1234567/abc"),
            ("kafka.attempt", b"2"),
        ]

    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        producer.send("flights.dead", b'{"dep_delay": 99999}', key=b"EWR", headers=headers(NAME, "delay is plausible"))
        producer.send("flights.dead", HOSTILE.encode(), headers=headers(NAME, HOSTILE))
        producer.send("flights.dead", b"of another", headers=headers("another", "delay is plausible"))
    page = await project_pages.get("/pipeline", name=NAME)
    shown = text_of(page)
    assert page.count('<article class="dead">') == 2
    assert "dep_delay is 99999" in shown
    assert "flights, partition 3, offset 1,234,567" in shown
    assert '"dep_delay": 99999' in shown
    assert "--rule 'delay is plausible'" in shown
    assert 'href="message?topic=flights.dead&amp;partition=0&amp;offset=0"' in page
    assert "<script>" not in page
    assert "<img" not in page
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        producer.send("flights.dead", b"one more", headers=headers(NAME, "r"))
    assert "one more" not in await project_pages.get("/pipeline", name=NAME), "no event says that there are more"
    sample = Sample(seed=7)
    sample.run(5)
    write(project / "checkpoints" / NAME, sample)
    assert "one more" in await project_pages.get("/pipeline", name=NAME)


async def test_a_missing_topic_of_dead_letters_is_a_message(
    project_pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def newest(*given: object) -> list[object]:
        raise UnknownTopicOrPartitionError(f"there is no topic 'flights.dead' to read; {WHERE_TOPICS_ARE}")

    monkeypatch.setattr(DeadLetterReader, "newest", newest)
    told = text_of(await project_pages.get("/pipeline", name=NAME))
    assert "The dead letters cannot be read: there is no topic 'flights.dead' to read; see the Topics page" in told


async def test_the_live_parts_follow_the_files(project_pages: Pages, project: Path) -> None:
    page = await project_pages.get("/pipelines")
    assert 'data-live="live/pipelines?seen=' in page
    assert f'data-live="live/pipeline?name={NAME}&amp;seen=' in await project_pages.get("/pipeline", name=NAME)
    write(project / "checkpoints" / "third", Sample(pipeline="third").run(3))
    assert [row[0] for row in rows_of(await project_pages.get("/pipelines"), "Pipelines")] == [NAME, "other", "third"]


async def test_the_style_sheet_has_the_styles_of_charts_and_graphs(pages: Pages) -> None:
    sheet = await pages.get("/static/style.css")
    for name in (".narrow-chart", ".glyph", ".box", ".spark", ".deads"):
        assert f"\n{name} " in sheet
    assert sheet.count("{") == sheet.count("}")


def test_new_lines_are_read_and_incomplete_ones_wait(tmp_path: Path) -> None:
    sample = Sample().run(3, ending=None)
    write(tmp_path, sample)
    log = PipelineLog(tmp_path)
    assert log.read().history.totals["stream"].batches == 3
    assert log.read() is log.read(), "nothing has changed"
    (path,) = (tmp_path / "events").iterdir()
    sample.run(1)
    line = to_json(sample.events[5])
    with path.open("a") as file:
        file.write(line[:40])
    assert log.read().history.totals["stream"].batches == 3
    with path.open("a") as file:
        file.write(line[40:] + "\n\nno event\n{}\n")
    state = log.read()
    assert (state.history.totals["stream"].batches, state.unread) == (4, 2)
    with path.open("a") as file:
        for number in ('"x"', "NaN", "1e999", "null", "[]"):
            counts = f'{{"rows": {number}, "processed": 0, "dropped": 0, "dead": 0}}'
            file.write(
                f'{{"kind": "batch", "time": "2026-11-27T14:00:00Z", "pipeline": "p", "sources": {{"s": {counts}}}}}\n'
            )
    assert log.read().unread == 7
    path.unlink()
    write(tmp_path, Sample().run(2))
    assert log.read().history.totals["stream"].batches == 2, "the file was replaced"


def test_only_the_newest_events_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline_logs, "KEPT", 20)
    sample = Sample()
    for _ in range(10):
        sample.run(4)
    write(tmp_path, sample)
    state = PipelineLog(tmp_path).read()
    assert not state.is_complete
    assert len(state.history.runs) == 4
    assert state.declaration is not None
    growing = Sample()
    write(tmp_path / "grows", growing.run(15, ending=None))
    log = PipelineLog(tmp_path / "grows")
    assert log.read().is_complete
    first = len(growing.events)
    growing.run(50)
    write(tmp_path / "grows", growing, first)
    state = log.read()
    assert not state.is_complete
    assert state.history.totals["stream"].batches <= 20


def test_directories_are_found_below_each_path(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write(tmp_path / "project" / "checkpoints" / name, Sample(pipeline=name).run(1))
    for path in (tmp_path, tmp_path / "project", tmp_path / "project" / "checkpoints"):
        assert list(PipelineLogs([path, path]).read()[0]) == ["a", "b"]
    assert list(PipelineLogs([tmp_path / "project" / "checkpoints" / "b"]).read()[0]) == ["b"]
    write(tmp_path / "copy", Sample(pipeline="a").run(1))
    found, _ = PipelineLogs([tmp_path]).read()
    assert len(found) == 3, "two pipelines of the same name"


def test_a_directory_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    write(tmp_path / "a", Sample().run(1))
    (tmp_path / "a" / "events" / "folder.jsonl").mkdir()
    found, failed = PipelineLogs([tmp_path]).read()
    assert found == {}
    assert failed == [f"{tmp_path / 'a'}: Is a directory"]


def test_the_declaration_of_a_pipeline_is_found_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.yaml").write_text("pipeline: 'other'\n")
    (tmp_path / "y.yml").write_text('kafka: {}\npipeline: "mine" # yes\n')
    (tmp_path / "z.yaml").write_bytes(b"\xff")
    directory = tmp_path / "checkpoints" / "mine"
    assert declaration_file(directory, "mine") == str(tmp_path / "y.yml")
    monkeypatch.chdir(tmp_path)
    assert declaration_file(directory, "mine") == "y.yml"
    assert declaration_file(directory, "unknown") == ""


@pytest.mark.parametrize(
    "headers",
    [[], [("kafka.attempt", b"x"), ("kafka.source", b"///")], [("kafka.rule", None), ("kafka.cause", b"\xff")]],
)
def test_any_record_may_be_a_dead_letter(headers: list[tuple[str, bytes | None]]) -> None:
    found = dead_letter_of("t", Found(1, 2, 3, None, b"v", headers))
    assert found.position == Position("t", 1, 2)
    assert (found.attempt, found.source, found.value) == (0, None, b"v")


def test_the_option_takes_directories_that_exist(tmp_path: Path) -> None:
    result = CliRunner().invoke(commands, ["ui", "--pipelines", str(tmp_path / "missing")])
    assert result.exit_code == 2
    assert "does not exist" in result.output
