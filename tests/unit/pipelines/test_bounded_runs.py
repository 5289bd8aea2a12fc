"""Replays and backfills: their slices, plans and progress, and which offsets they select, without Spark."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import json
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka.errors import IllegalStateError
from kafka.pipelines import backfill, first_backfill, replay
from kafka.pipelines.batch_runs import BoundedRun
from kafka.pipelines.bounded_runs import (
    Ranges,
    RunDirectory,
    RunPlan,
    batch_options,
    log_ranges,
    run_slices,
    sliced,
    within_times,
)
from kafka.pipelines.declaration import Declaration
from kafka.pipelines.directories import directory_of
from kafka.pipelines.run_results import RunResult
from kafka.pipelines.yaml_file import parse
from kafka.structs import TopicPartition

pytestmark = pytest.mark.once

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)
UTC = datetime.UTC


class Log:
    """A consumer of logs, whose record at offset N has the timestamp 1000 + 10 N; the logs are given as ranges."""

    def __init__(self, logs: dict[TopicPartition, tuple[int, int]]) -> None:
        self._logs = logs

    def topics(self) -> Iterable[str]:
        return dict.fromkeys(each.topic for each in reversed(self._logs))

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        return {each.partition for each in self._logs if each.topic == topic} or None

    def beginning_offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        return {each: self._logs[each][0] for each in partitions}

    def end_offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        return {each: self._logs[each][1] for each in partitions}

    def offsets_for_times(self, times: Mapping[TopicPartition, int]) -> dict[TopicPartition, Any]:
        found: dict[TopicPartition, Any] = {}
        for each, moment in times.items():
            start, end = self._logs[each]
            at = max(start, -(-(moment - 1000) // 10))
            found[each] = SimpleNamespace(offset=at) if at < end else None
        return found

    def __enter__(self) -> Log:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is open."""


def moment(offset: int) -> datetime.datetime:
    """When the record with this offset was written."""
    return datetime.datetime.fromtimestamp((1000 + 10 * offset) / 1000, UTC)


def consumer(**logs: tuple[int, int]) -> Any:
    """A consumer of logs: ``a1=(3, 7)`` is partition 1 of topic a, with offsets 3 to 6."""
    return Log({TopicPartition(name[0], int(name[1:])): ends for name, ends in logs.items()})


def declared(text: str, directory: Path) -> Declaration:
    """A pipeline of some sources, whose files are in a directory."""
    return parse(
        f"pipeline: p\nkafka: {{bootstrap.servers: 'localhost:9092'}}\nsink: {{topic: out}}\n"
        f"checkpoint: {directory}\nquery: select 1\ndead_letters: {{topic: dead}}\n{text}\n"
    )


@given(
    st.dictionaries(
        st.builds(TopicPartition, st.sampled_from("ab"), st.integers(0, 3)),
        st.tuples(st.integers(0, 20), st.integers(0, 20)).map(lambda ends: (ends[0], sum(ends))),
    ),
    st.integers(1, 25),
)
def test_slices_have_each_offset_once_in_order_and_are_full(ranges: Ranges, most: int) -> None:
    slices = sliced(ranges, most)
    flat = [(each, offset) for part in slices for each, ends in part.items() for offset in range(*ends)]
    assert flat == [(each, offset) for each, ends in sorted(ranges.items()) for offset in range(*ends)]
    sizes = [sum(end - start for start, end in part.values()) for part in slices]
    assert all(size == most for size in sizes[:-1])
    assert all(0 < size <= most for size in sizes)
    assert all(start < end for part in slices for start, end in part.values())
    plan = RunPlan("backfill", 1, {}, slices)
    assert plan.ranges == {each: ends for each, ends in ranges.items() if ends[0] < ends[1]}
    assert plan.offsets == len(flat)


def test_a_slice_is_read_from_its_starts_to_its_ends() -> None:
    found = batch_options({A1: (3, 9), B0: (0, 2), A0: (1, 5)})
    assert {name: json.loads(text) for name, text in found.items()} == {
        "assign": {"a": [0, 1], "b": [0]},
        "startingOffsets": {"a": {"0": 1, "1": 3}, "b": {"0": 0}},
        "endingOffsets": {"a": {"0": 5, "1": 9}, "b": {"0": 2}},
    }


def test_a_stored_plan_is_read_again(tmp_path: Path) -> None:
    runs = RunDirectory(tmp_path / "new" / "replays", "replay")
    dashed = TopicPartition("a-b-7", 12)
    first = runs.add({"rule": "x"}, [{A0: (0, 5), dashed: (2, 4)}, {A0: (5, 7)}], 9, {"a": "id"})
    assert (first.number, first.done, first.letters, first.kind) == (1, 0, 9, "replay")
    assert runs.plans() == [first]
    second = runs.add({}, [])
    assert (second.number, second.is_finished, second.letters, second.topic_ids) == (2, True, None, {})
    assert second.id != first.id, "the sink remembers slices under it"
    for _ in range(9):
        runs.add({}, [{A0: (0, 1)}])
    assert [each.number for each in runs.plans()] == list(range(1, 12))
    assert first.ranges == {A0: (0, 7), dashed: (2, 4)}
    assert first.offsets == 9


@pytest.mark.parametrize(
    ("kind", "name"), [("replay", "replay"), ("backfill", "backfill"), ("first", "backfill before the stream")]
)
def test_runs_of_a_kind_are_locked(kind: Any, name: str, tmp_path: Path) -> None:
    runs = RunDirectory(tmp_path, kind)
    with runs.lock(), pytest.raises(IllegalStateError, match=f"another {name} of this pipeline"), runs.lock():
        pass
    with runs.lock():
        pass


def test_a_plan_is_of_other_topics_only_if_an_id_differs() -> None:
    plan = RunPlan("replay", 1, {}, [], topic_ids={"a": "1", "b": "2"})
    assert plan.has_same_topics({"a": "1", "b": "2", "c": "3"})
    assert plan.has_same_topics({"b": "2"})
    assert plan.has_same_topics({})
    assert not plan.has_same_topics({"a": "1", "b": "3"})
    assert not plan.has_same_topics({"a": "2"})


@pytest.mark.parametrize("done", [0, 1, 3])
def test_the_remaining_slices_are_processed_in_order_and_stored_before_they_are_reported(
    done: int, tmp_path: Path
) -> None:
    runs = RunDirectory(tmp_path, "backfill")
    plan = runs.add({}, [{A0: (number, number + 1)} for number in range(3)])
    for _ in range(done):
        plan = run_slices(runs, plan, lambda number, part: None, stop=_Once())
    assert plan.done == done
    steps: list[tuple[str, int, int]] = []

    def process(number: int, part: Ranges) -> None:
        steps.append(("process", number, part[A0][0]))
        assert runs.plans()[0].done == number

    def finished(part: Ranges) -> None:
        steps.append(("finished", runs.plans()[0].done - 1, part[A0][0]))

    plan = run_slices(runs, plan, process, finished)
    assert steps == [(what, number, number) for number in range(done, 3) for what in ("process", "finished")]
    assert plan.is_finished
    assert runs.plans() == [plan]


class _Once(threading.Event):
    """Is set from the second time on that it is asked."""

    _asked = False

    def is_set(self) -> bool:
        before, self._asked = self._asked, True
        return before


def test_a_slice_that_fails_is_not_stored_as_done(tmp_path: Path) -> None:
    runs = RunDirectory(tmp_path, "backfill")
    plan = runs.add({}, [{A0: (0, 1)}, {A0: (1, 2)}])

    def process(number: int, part: Ranges) -> None:
        if number == 1:
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError):
        run_slices(runs, plan, process, lambda part: None)
    assert runs.plans()[0].done == 1
    stop = threading.Event()
    stop.set()
    assert run_slices(runs, runs.plans()[0], process, stop=stop).done == 1


def test_the_ranges_of_topics_are_those_of_their_logs() -> None:
    found = log_ranges(consumer(a0=(3, 7), a1=(0, 0), b0=(2, 4)), ["a"])
    assert found == {A0: (3, 7), A1: (0, 0)}
    with pytest.raises(IllegalStateError, match="topic 'c' does not exist"):
        log_ranges(consumer(a0=(3, 7)), ["a", "c"])


def test_ranges_of_time_begin_with_a_record_and_end_before_one() -> None:
    logs, ranges = consumer(a0=(2, 9), a1=(0, 4)), {A0: (2, 9), A1: (0, 4)}
    assert within_times(logs, ranges, None, None) == ranges
    assert within_times(logs, ranges, moment(3), None) == {A0: (3, 9), A1: (3, 4)}
    assert within_times(logs, ranges, None, moment(3)) == {A0: (2, 3), A1: (0, 3)}
    assert within_times(logs, ranges, moment(3), moment(5)) == {A0: (3, 5), A1: (3, 4)}
    assert within_times(logs, ranges, moment(4), None) == {A0: (4, 9)}, "partition 1 has no such record"
    assert within_times(logs, ranges, moment(3), moment(3)) == {}
    assert within_times(logs, {A0: (5, 7)}, moment(3), moment(8)) == {A0: (5, 7)}, "no more than was asked for"
    assert within_times(logs, {A0: (5, 5)}, None, None) == {}
    assert within_times(logs, {}, moment(3), moment(8)) == {}
    assert ranges == {A0: (2, 9), A1: (0, 4)}


SOURCES = """
sources:
  one: {topics: [a, c], value: {format: bytes}}
  two: {topic: b, value: {format: bytes}}
"""


def test_a_backfill_selects_offsets_of_the_sources_within_their_logs(tmp_path: Path) -> None:
    declaration = declared(SOURCES, tmp_path)
    logs = consumer(a0=(2, 9), b0=(0, 4), c0=(1, 1), d0=(0, 5))
    select = backfill.selected_ranges
    assert select(logs, declaration, None, None) == {A0: (2, 9), B0: (0, 4)}
    assert select(logs, declaration, moment(3), moment(6)) == {A0: (3, 6), B0: (3, 4)}
    assert select(logs, declaration, None, None, {A0: (0, 5), B0: (3, 90)}) == {A0: (2, 5), B0: (3, 4)}
    assert select(logs, declaration, moment(4), None, {A0: (0, 5)}) == {A0: (4, 5)}
    for other in (A1, TopicPartition("d", 0)):
        with pytest.raises(IllegalStateError, match=f"partition {other.topic}-{other.partition} is not in"):
            select(logs, declaration, None, None, {other: (0, 1)})


def test_the_topics_of_sources_are_each_named_once_with_those_that_match_now(tmp_path: Path) -> None:
    logs = consumer(a0=(0, 1), b0=(0, 1), d0=(0, 1), e0=(0, 1))
    assert backfill.source_topics(logs, declared(SOURCES, tmp_path)) == ["a", "c", "b"]
    text = "sources: {one: {topic: e, value: {format: bytes}}, two: {pattern: '^[de]$', value: {format: bytes}}}"
    assert backfill.source_topics(logs, declared(text, tmp_path)) == ["e", "d"]
    text = "source: {pattern: '^[bde]$', value: {format: bytes}}"
    assert backfill.source_topics(logs, declared(text, tmp_path)) == ["b", "d", "e"]


def test_a_replay_selects_offsets_of_the_dead_letters_within_their_log() -> None:
    logs = consumer(a0=(2, 9), a1=(0, 4))
    select = replay._selected
    assert select(logs, "a", None, None, None) == {A0: (2, 9), A1: (0, 4)}
    assert select(logs, "a", {0: (0, 5)}, None, None) == {A0: (2, 5)}
    assert select(logs, "a", {0: (4, 90), 1: (4, 9)}, None, None) == {A0: (4, 9)}
    assert select(logs, "a", {1: (0, 4)}, moment(2), moment(3)) == {A1: (2, 3)}
    with pytest.raises(IllegalStateError, match=r"topic 'a' has no partition 2; it has 2 partition\(s\)"):
        select(logs, "a", {0: (0, 1), 2: (0, 1)}, None, None)


BACKFILLED = """
sources:
  two: {topic: b, value: {format: bytes}}
  one: {topic: a, value: {format: bytes}, backfill: {since: %s}}
"""


def test_a_declared_backfill_begins_at_its_time_and_is_that_of_its_source(tmp_path: Path) -> None:
    logs = consumer(a0=(2, 9), a1=(0, 3), b0=(0, 4))
    ranges = first_backfill.backfilled_ranges
    assert ranges(logs, declared(BACKFILLED % "earliest", tmp_path)) == {A0: (2, 9), A1: (0, 3)}
    for since, expected in ((1, {A0: (2, 9), A1: (0, 3)}), (1040, {A0: (4, 9), A1: (3, 3)})):
        assert ranges(logs, declared(BACKFILLED % since, tmp_path)) == expected, "also empty ranges: the stream starts"


@pytest.mark.parametrize("by_row", [True, False])
def test_the_stream_starts_where_the_backfill_ends_also_after_a_kill(
    by_row: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stateful query reads the older records in the stream itself, which then starts at their beginning."""
    declaration = declared(BACKFILLED % 1040, tmp_path)
    logs = [consumer(a0=(2, 9), a1=(0, 6), b0=(0, 4)), consumer(a0=(2, 20), a1=(0, 20), b0=(0, 4))]
    ran: list[RunPlan] = []
    spark: Any = object()
    function: Any = object()

    def is_by_row(*given: Any) -> bool:
        assert given == (declaration, spark, function, {A0: (4, 9), A1: (4, 6)})
        return by_row

    def process_plan(bounded: BoundedRun, session: Any, plan: RunPlan) -> RunResult:
        assert (bounded.declaration, session, bounded.function) == (declaration, spark, function)
        ran.append(plan)
        if len(ran) == 1:
            raise RuntimeError("killed")
        bounded.runs.store(RunPlan("first", 1, plan.selection, plan.slices, len(plan.slices)))
        return RunResult((), directory_of(declaration))

    monkeypatch.setattr(first_backfill, "consumer_of", lambda declaration: logs.pop(0))
    monkeypatch.setattr(first_backfill, "is_by_row", is_by_row)
    monkeypatch.setattr(first_backfill, "process_plan", process_plan)
    if by_row:
        with pytest.raises(RuntimeError):
            first_backfill.stream_starts(declaration, spark, function)
    for _ in range(2):
        starts = first_backfill.stream_starts(declaration, spark, function)
        assert set(starts) == {"one"}
        offsets = json.loads(starts["one"]["startingOffsets"])
        assert offsets == {"a": {"0": 9, "1": 6} if by_row else {"0": 4, "1": 4}}
    assert [each.slices for each in ran] == ([[{A0: (4, 9), A1: (4, 6)}]] * 2 if by_row else [])
    assert len(logs) == 1, "the ranges are those of the first start"
    assert len(list(directory_of(declaration).first_backfill.glob("*/plan.json"))) == 1


def test_without_a_declared_backfill_nothing_is_looked_up(tmp_path: Path) -> None:
    spark: Any = None
    assert first_backfill.stream_starts(declared(SOURCES, tmp_path), spark, None) == {}


class Replays:
    """The replays of a pipeline whose topic of dead letters has the offsets 0 to 9, without Spark.

    Attributes:
        processed: the plans that were processed, with the rules of the earlier ones whose letters were left out.
        is_complete: whether a replay runs to its end, or is stopped.
    """

    def __init__(self, base: Path, patch: pytest.MonkeyPatch) -> None:
        self.declaration = parse(
            f"""
pipeline: p
checkpoint: {base}
kafka: {{bootstrap.servers: "localhost:1"}}
source: {{topic: a, value: {{format: bytes}}}}
rules: [{{name: one, holds: "true"}}, {{name: two, holds: "true"}}]
sink: {{topic: out, value: {{format: bytes}}}}
dead_letters: {{topic: dead}}
"""
        )
        self.runs = RunDirectory(directory_of(self.declaration).replays, "replay")
        self.processed: list[tuple[int, list[int]]] = []
        self.is_complete = True
        letters: Any = replay._Letters
        patch.setattr(letters, "__init__", lambda own, declared, spark, rule, earlier: setattr(own, "earlier", earlier))
        patch.setattr(letters, "count", lambda own, function, ranges: 5)
        patch.setattr(BoundedRun, "process", self._process)
        patch.setattr(replay, "ids_of", lambda declared, topics: {"dead": "id"})
        patch.setattr(replay, "consumer_of", lambda declared: contextlib.nullcontext(Log({self.dead: (0, 10)})))

    dead = TopicPartition("dead", 0)

    def _process(self, plan: RunPlan, letters: Any) -> RunResult:
        self.processed.append((plan.number, [each.number for each in letters.earlier]))
        if self.is_complete:
            self.runs.store(dataclasses.replace(plan, done=len(plan.slices)))
        return RunResult((), directory_of(self.declaration), self.is_complete)

    def replay(self, rule: str | None = None, **given: Any) -> list[tuple[int, list[int]]]:
        """Replay, and return what was processed."""
        self.processed.clear()
        session: Any = object()
        replay.replay(self.declaration, session, rule=rule, **given)
        return list(self.processed)


def test_a_replay_that_was_stopped_is_finished_first_and_only_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replays = Replays(tmp_path, monkeypatch)
    replays.is_complete = False
    assert replays.replay("one") == [(1, [])]
    assert replays.replay("one") == [(1, [])], "stopped again"
    assert replays.replay("two") == [(1, [])], "another one does not begin before this one has ended"
    replays.is_complete = True
    assert replays.replay("one") == [(1, [])], "the same selection: there is nothing else to do"
    assert replays.replay("one") == [(2, [1])]
    assert replays.replay("two", again=True) == [(3, [])]
    assert [plan.is_finished for plan in replays.runs.plans()] == [True, True, True]


def test_a_replay_of_a_topic_that_was_created_again_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replays = Replays(tmp_path, monkeypatch)
    replays.runs.add({}, [{replays.dead: (0, 99)}], topic_ids={"dead": "old"})
    assert replays.replay() == [(2, [])]
    first, second = replays.runs.plans()
    assert (first.is_finished, second.slices) == (True, [{replays.dead: (0, 10)}])
