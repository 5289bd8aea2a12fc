"""A broker that is killed during transactions, at each write: decided ones end, and none is partially visible."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kafka.broker.error_codes import ErrorCode
from kafka.broker.transactions.transaction_metadata import TransactionState
from unit.broker.transactional import PARTITIONS, TransactionalBroker

pytestmark = pytest.mark.once

TRANSACTIONS = 3
SEEDS = 20


class Killed(BaseException):
    """The broker's process was killed."""


@contextmanager
def killed_at_write(number: int, part: float) -> Iterator[list[int]]:
    """Kill the process within its n-th write from now on, after a part of the data was written.

    Yields a list with the number of writes that have begun.
    """
    begun = [0]
    write = os.pwrite

    def pwrite(fd: int, data: bytes, position: int) -> int:
        begun[0] += 1
        if begun[0] < number:
            return write(fd, data, position)
        if begun[0] == number:
            write(fd, data[: int(len(data) * part)], position)
        raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "pwrite", pwrite)
        yield begun


class TransactionalProgram:
    """Runs transactions with two partitions and an offset each, every third one aborted.

    Continues after interruptions.
    """

    def __init__(self, txn: TransactionalBroker) -> None:
        self.txn = txn
        self.number = 0
        self.step = 0
        self.committed: list[int] = []
        """Transactions that the broker has acknowledged as committed."""
        self.ending: int | None = None
        """The transaction whose end was asked for last."""

    def run(self) -> None:
        while self.number < TRANSACTIONS:
            self.go_on()

    def go_on(self) -> None:
        """Run the next step, or repeat the interrupted one."""
        txn, number = self.txn, self.number
        if self.step < 2:
            assert txn.write(self.step, [b"%d" % number]) == 0
        elif self.step == 2:
            assert txn.commit_offset(number) == 0
        else:
            self.ending = number
            assert txn.end(self.commits(number)) == 0
            if self.commits(number):
                self.committed.append(number)
            self.number, self.step = number + 1, -1
        self.step += 1

    @staticmethod
    def commits(number: int) -> bool:
        return number % 3 != 1


def seen(txn: TransactionalBroker) -> list[int]:
    """Return the transactions that are visible to committed reads: each in all partitions and with its offset."""
    views = [[int(value) for value in txn.committed_values(number)] for number in range(PARTITIONS)]
    assert views[0] == views[1], f"seen by half: {views}"
    assert txn.committed_offset() == (views[0][-1] if views[0] else -1), views
    return views[0]


def writes_of_a_run(folder: Path, version: int) -> int:
    program = TransactionalProgram(TransactionalBroker(folder, version))
    assert program.txn.init() == 0
    with killed_at_write(1_000_000, 0) as begun:
        program.run()
    assert seen(program.txn) == [0, 2]
    return begun[0]


def killed(folder: Path, version: int, number: int, part: float) -> TransactionalProgram:
    """Return a program whose broker was killed within its n-th write and restarted."""
    program = TransactionalProgram(TransactionalBroker(folder, version, timeout_ms=10_000))
    assert program.txn.init() == 0
    with killed_at_write(number, part), pytest.raises(Killed):
        program.run()
    program.txn.restart()
    return program


def points(version: int, writes: int) -> list[tuple[int, float]]:
    """Return points before each write, after the last one, and at some places within writes."""
    rng = random.Random(version)
    within = [(rng.randrange(1, writes + 1), rng.random()) for _ in range(SEEDS)]
    return [(number, 0.0) for number in range(1, writes + 1)] + [(writes, 1.0)] + within


@pytest.mark.slow
@pytest.mark.parametrize("version", [1, 2])
def test_decided_transactions_end_and_open_ones_time_out(tmp_path: Path, version: int) -> None:
    writes = writes_of_a_run(tmp_path / "whole", version)
    decided_by_a_start = timed_out = 0
    for point, (number, part) in enumerate(points(version, writes)):
        program = killed(tmp_path / str(point), version, number, part)
        txn = program.txn
        found = seen(txn)  # Right after the restart: acknowledged transactions, and at most the one being committed.
        left = txn.known.state is TransactionState.ONGOING
        extra = [program.number] if not left and program.ending == program.number and program.step == 3 else []
        wanted = [each for each in [*program.committed, *extra] if program.commits(each)]
        complete = txn.known.state in (TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT)
        assert left or complete or txn.known.state is TransactionState.EMPTY
        assert found == wanted, (number, part)
        assert txn.is_stable() or left, (number, part)
        decided_by_a_start += bool(extra)
        timed_out += left
        txn.clock.advance(11)
        assert txn.is_stable(), (number, part)
        assert seen(txn) == wanted, (number, part)
        txn.broker.close()
    assert min(decided_by_a_start, timed_out) > 2  # both kinds occurred


@pytest.mark.slow
@pytest.mark.parametrize("version", [1, 2])
def test_a_producer_that_retries_after_a_restart_continues(tmp_path: Path, version: int) -> None:
    writes = writes_of_a_run(tmp_path / "whole", version)
    for point, (number, part) in enumerate(points(version, writes)):
        program = killed(tmp_path / str(point), version, number, part)
        program.run()
        assert seen(program.txn) == [0, 2], (number, part)
        program.txn.restart()
        assert seen(program.txn) == [0, 2], (number, part)
        program.txn.broker.close()


@pytest.mark.parametrize("version", [1, 2])
def test_a_new_producer_ends_a_transaction_left_open_by_a_killed_broker(tmp_path: Path, version: int) -> None:
    writes = writes_of_a_run(tmp_path / "whole", version)
    for point, (number, part) in enumerate(points(version, writes)[::3]):
        program = killed(tmp_path / str(point), version, number, part)
        txn = program.txn
        before = seen(txn)
        codes = [txn.init()]
        if codes[0]:
            codes.append(txn.init())
        assert codes in ([0], [ErrorCode.CONCURRENT_TRANSACTIONS, 0]), (number, part)
        assert txn.is_stable()
        assert seen(txn) == before
        assert [txn.write(0, [b"9"]), txn.write(1, [b"9"]), txn.commit_offset(9), txn.end(True)] == [0] * 4
        assert seen(txn) == [*before, 9], (number, part)
        txn.broker.close()
