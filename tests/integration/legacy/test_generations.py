"""Programs of six generations of kafka-python print here what they printed under the kafka-python of their time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from harness.generations import Program, programs, run_on
from harness.serving import TodaysBroker

if TYPE_CHECKING:
    from conftest import Broker

AT_ONCE = 4
"""Programs that run side by side: most of the time each waits for the broker, or for a silence of some length."""


class Runs:
    """Runs programs, the next ones while the caller waits for one.

    Arguments:
        broker: what they run on.
        order: the programs in the order in which they are asked for.
    """

    def __init__(self, broker: TodaysBroker, order: list[Program]) -> None:
        self._broker = broker
        self._order = order
        self._pool = ThreadPoolExecutor(AT_ONCE)
        self._started: dict[str, Future[str]] = {}

    def printed(self, program: Program) -> str:
        """What a program printed; those that are asked for after it are started too."""
        first = self._order.index(program)
        for each in self._order[first : first + AT_ONCE]:
            if each.name not in self._started:
                self._started[each.name] = self._pool.submit(run_on, each, sys.executable, self._broker)
        return self._started[program.name].result()

    def close(self) -> None:
        """Begin no other program, and wait for those that run."""
        self._pool.shutdown(cancel_futures=True)


def reason_not_to_run(program: Program, kind: str) -> str:
    return program.apache_only if kind == "embedded" else program.embedded_only


@pytest.fixture(scope="module")
def runs(broker: Broker, request: pytest.FixtureRequest) -> Iterator[Runs]:
    tests = [each.callspec.params for each in request.session.items if each.path == request.path]  # type: ignore[attr-defined]
    asked = [each["program"] for each in tests if each["broker"] == broker.kind]
    order = [each for each in asked if not reason_not_to_run(each, broker.kind)]
    running = Runs(TodaysBroker(broker.bootstrap_servers), order)
    yield running
    running.close()


@pytest.mark.parametrize("program", programs(), ids=lambda program: program.name)
def test_a_program_prints_what_it_printed_then(program: Program, runs: Runs, broker: Broker) -> None:
    reason = reason_not_to_run(program, broker.kind)
    if reason:
        pytest.skip(reason)
    assert not program.comparison(runs.printed(program), ours=True)
