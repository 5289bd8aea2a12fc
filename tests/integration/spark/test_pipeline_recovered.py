"""Micro-batches whose events were lost, as by a kill after Spark's commit: the next run recovers their counts exactly.

`make pipeline-trials` kills the driver there (`test_lost_events`). Here, the events are not written.
"""

from __future__ import annotations

from typing import Any

import pytest

from kafka.pipelines.audit.pipeline_audit import audit_pipeline
from kafka.pipelines.directories import directory_of
from kafka.pipelines.events import Event, EventFile, read_events
from kafka.pipelines.run import run
from kafka.pipelines.run_history import Totals, history

from .spark_support import spark
from .test_pipeline_runs import EXPLODED, QUERY, embedded, make_embedded_topic, one_broker

__all__ = ["embedded", "make_embedded_topic", "one_broker", "spark"]

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]


def lose_events(patch: pytest.MonkeyPatch, lost: set[int | None]) -> None:
    """Have runs write neither the events of these micro-batches nor those of their ends."""
    append = EventFile.append

    def kept(file: EventFile, event: Event) -> None:
        if event.kind == "start" or (event.kind == "batch" and event.batch not in lost):
            append(file, event)

    patch.setattr(EventFile, "append", kept)


@pytest.mark.parametrize("form", ["rows", "batch", "union"])
def test_counts_and_the_audit_are_those_of_a_run_that_wrote_all_events(
    spark: Any, one_broker: Any, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    query = {"rows": QUERY, "batch": EXPLODED, "union": QUERY + " union all " + QUERY}[form]
    source = "max_offsets_per_trigger: 60\n  times: [{column: kafka.timestamp, past: 1 day}]"
    declarations = [one_broker.declaration(query, name=f"-{name}", source=source) for name in ("whole", "killed")]
    one_broker.produce(range(200))
    run(declarations[0], spark)
    with monkeypatch.context() as patch:
        lose_events(patch, {1, 3})
        run(declarations[1], spark)
    totals: list[Totals] = []
    one_broker.produce(range(200, 230))
    passed: list[Event] = []
    for declaration, on_event in zip(declarations, (None, passed.append), strict=True):
        result = run(declaration, spark, on_event=on_event)
        assert result.rows == 30, "the result of a run is its own"
        totals.append(history(read_events(directory_of(declaration).events)).totals["stream"])
    whole, killed = totals
    for source_totals in killed.sources.values():
        source_totals.lag = whole.sources["source"].lag
    assert (killed.sources, killed.batches) == (whole.sources, whole.batches)
    assert [each.batch for each in passed if each.recovered] == [1, 3]
    if form != "union":  # of which it is unknown which rows of the result a micro-batch wrote
        assert killed.out == whole.out
        # Both pipelines write to the same topics, so that rows are there twice; but no count of a micro-batch differs.
        faults = audit_pipeline(declarations[1], spark).faults
        assert not [each for each in faults if "counts of a micro-batch" in str(each) and "rows:" in str(each)]
    notes = audit_pipeline(declarations[1], spark, recompute=False).notes
    assert any("micro-batch 1, micro-batch 3 were computed again" in each for each in notes)
    assert not any("have no event" in each for each in notes)
