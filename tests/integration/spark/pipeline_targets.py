"""What the tests of targets share: batches of rows, and interruptions of a write at each of its durable steps."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from kafka.pipelines.targets.target import TargetModel

RUN = "flights/stream"
ROWS = "id bigint, day date, ts timestamp, name string"


class Killed(BaseException):
    """Stands for the end of the process: no ``except Exception`` catches it."""


class Steps:
    """Durable steps of a write. The process can be stopped before and after each of them.

    Arguments:
        monkeypatch: replaces the functions.
        functions: an object and the name of its function, for each step.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, functions: Sequence[tuple[Any, str]]) -> None:
        self._stop_at = -1
        self._passed = 0
        self.names: list[str] = []
        for owner, name in functions:
            function = getattr(owner, name)
            is_static = isinstance(vars(owner).get(name), staticmethod)
            replaced = self._stopping(function, name)
            monkeypatch.setattr(owner, name, staticmethod(replaced) if is_static else replaced)

    def stop_at(self, point: int) -> None:
        """Stop at the point with this number; -1 for none. Each step has a point before and a point after it."""
        self._stop_at, self._passed, self.names = point, 0, []

    def _stopping(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        @functools.wraps(function)
        def stopping(*arguments: Any, **options: Any) -> Any:
            self._pass(f"before {name}")
            result = function(*arguments, **options)
            self._pass(f"after {name}")
            return result

        return stopping

    def _pass(self, point: str) -> None:
        self.names.append(point)
        self._passed += 1
        if self._passed == self._stop_at + 1:
            raise Killed(point)


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
