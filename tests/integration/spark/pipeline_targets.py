"""What the tests of targets share: batches of rows, which are written despite interruptions at each durable step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from harness.durable_steps import Killed, Steps
from kafka.pipelines.targets.target import TargetModel

RUN = "flights/stream"
ROWS = "id bigint, day date, ts timestamp, name string"


def batches(spark: Any) -> Iterator[tuple[int, list[tuple[Any, ...]], Any, Any]]:
    """Yield numbers, rows, a frame with these rows, and a frame with the rows in other partitions."""
    import datetime

    for batch in range(1000):
        rows = [
            (
                batch * 100 + each,
                datetime.date(2026, 11, 20 + each % 3),
                datetime.datetime(2026, 11, 27, 12, 0, each, 250000 + batch),
                None if each == 1 else f"née, \"{each}\"\n'\\x41' {batch}",
            )
            for each in range(5)
        ]
        frame = spark.createDataFrame(rows, ROWS)
        yield batch, rows, frame.repartition(2, "id"), frame.repartition(3, "name", "day")


def kill_everywhere(
    spark: Any,
    sink: TargetModel,
    steps: Steps,
    read: Callable[[], list[tuple[Any, ...]]],
    between: Callable[[], None] = lambda: None,
) -> list[str]:
    """Interrupt writes at each step, and assert the exact content after each repetition.

    Batch n is interrupted at the nth point. Then it is repeated, in other partitions, twice. The last batch is the
    first one that is not interrupted.

    Arguments:
        read: returns the rows of the table, sorted.
        between: is called after each interruption, to look at the table in this state.

    Returns the names of all points.
    """
    expected: list[tuple[Any, ...]] = []
    for batch, rows, frame, other_frame in batches(spark):
        steps.stop_at(batch)
        expected += rows
        if is_killed := was_killed(sink, frame, batch):
            between()
        names = steps.names
        steps.stop_at(-1)
        sink.write(other_frame, RUN, batch)
        sink.write(frame, RUN, batch)
        assert read() == sorted(expected), f"stopped {names[-1]}"
        if not is_killed:
            return names
    raise AssertionError("no write was finished")


def kill_again_and_again(
    spark: Any, sink: TargetModel, steps: Steps, read: Callable[[], list[tuple[Any, ...]]]
) -> None:
    """Interrupt the same batch at one point after the other, and assert the content at the end."""
    batch, rows, frame, other_frame = next(batches(spark))
    for point in range(1000):
        steps.stop_at(point)
        if not was_killed(sink, other_frame if point % 2 else frame, batch):
            assert read() == sorted(rows)
            return
    raise AssertionError("no write was finished")


def was_killed(sink: TargetModel, frame: Any, batch: int) -> bool:
    """Write a batch. Return whether the write was interrupted."""
    try:
        sink.write(frame, RUN, batch)
    except Killed:
        return True
    return False
