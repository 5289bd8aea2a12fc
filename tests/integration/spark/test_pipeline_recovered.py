"""Micro-batches whose events were lost, as by a kill after Spark's commit: the next run recovers their counts exactly.

`make pipeline-trials` kills the driver there (`test_lost_events`). Here, the events are not written.
"""

from __future__ import annotations

from typing import Any

import pytest

from kafka.pipelines.audit.pipeline_audit import audit_pipeline
from kafka.pipelines.directories import directory_of
from kafka.pipelines.events import Event, EventFile, read_events
from kafka.pipelines.recovered_counts import recover
from kafka.pipelines.run import run
from kafka.pipelines.run_history import history

from .spark_support import spark
from .test_pipeline_runs import EXPLODED, QUERY, embedded, make_embedded_topic, numbers_of, one_broker

__all__ = ["embedded", "make_embedded_topic", "one_broker", "spark"]

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]


def lose_events(patch: pytest.MonkeyPatch, lost: set[int | None]) -> None:
    """Have runs write neither the events of these micro-batches nor those of their ends."""
    append = EventFile.append

    def kept(file: EventFile, event: Event) -> None:
        if event.kind == "start" or (event.kind == "batch" and event.batch not in lost):
            append(file, event)

    patch.setattr(EventFile, "append", kept)


@pytest.mark.parametrize("form", ["rows", "batch"])
def test_counts_are_those_of_the_records_of_the_micro_batches(
    spark: Any, one_broker: Any, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    query = {"rows": QUERY, "batch": EXPLODED}[form]
    source = "max_offsets_per_trigger: 60\n  times: [{column: kafka.timestamp, past: 1 day}]"
    declaration = one_broker.declaration(query, source=source)
    one_broker.produce(range(120))
    with monkeypatch.context() as patch:
        lose_events(patch, {0, 1})
        run(declaration, spark)
    events = read_events(directory_of(declaration).events)
    assert [each.kind for each in events] == ["start"], "no event of the two micro-batches"
    found = recover(declaration, directory_of(declaration), spark, None)
    assert [(each.batch, each.rows, each.run_id) for each in found] == [
        (0, 60, events[0].run_id),
        (1, 60, events[0].run_id),
    ]
    totals = history(read_events(directory_of(declaration).events)).totals["stream"]
    numbers = {outcome: len(numbers_of(outcome, range(120))) for outcome in ("out", "filtered", "dropped", "dead")}
    assert (totals.rows, totals.batches, totals.dropped, totals.dead) == (120, 2, numbers["dropped"], numbers["dead"])
    assert totals.sources["source"].processed == numbers["out"] + numbers["filtered"]
    assert totals.rules["decodes"] == 12
    assert totals.out == numbers["out"]
    result = audit_pipeline(declaration, recompute=False)
    assert result.balances, result.faults
    assert any("micro-batch 0, micro-batch 1 were computed again" in each for each in result.notes)
    assert not any("have no event" in each for each in result.notes)
