"""Runs the queries: starts a driver, kills it while work is in progress, and starts another that continues the work."""

import contextlib
import dataclasses
import datetime
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

from kafka.cli.demo.ingest import SOURCE_TOPIC, group_lag
from kafka.cli.demo.plan import TOPIC_QUERY, Plan
from kafka.errors import KafkaError
from kafka.spark import transactions

_COMMAND = (sys.executable, "-m", "kafka.cli.demo.spark_driver")
_LOOK_EVERY_S = 0.1
_ATTEMPTS = 5
_BUSY = "Python worker failed to connect back"
"""Spark gives a Python process ten seconds to start. A driver that failed this way is restarted without loss."""


@dataclasses.dataclass(frozen=True)
class Kill:
    """The state of the run when a driver was killed.

    Arguments:
        at: the time.
        batch: the unfinished micro-batch of the query that writes to the topic; None between two micro-batches.
        rows: number of rows that this query had finished.
        open_transactions: number of transactions that the driver left open in Kafka.
        lag: lag of each group at that time, by name.
    """

    at: datetime.datetime
    batch: int | None
    rows: int
    open_transactions: int
    lag: dict[str, int]


def run_with_a_kill(
    plan: Plan, total: int, log: pathlib.Path, say: Callable[[str], None]
) -> tuple[Kill | None, datetime.datetime | None]:
    """Run the queries to their end, killing one driver on the way.

    Arguments:
        plan: the plan of the queries.
        total: number of records to read.
        log: file to which Spark's log is appended.
        say: called with a message for each step.

    Returns the state when the driver was killed, and the time when another driver was started. Both are None if the
    driver finished before it could be killed. Raises `KafkaError` if a driver fails.
    """
    kill: Kill | None = None
    again: datetime.datetime | None = None
    attempts = _ATTEMPTS
    say("Started a Spark driver with two queries.")
    while True:
        with driver(plan, log) as process:
            found = _kill_in_flight(process, plan, total) if kill is None else None
            if found is None:
                why = _failure(process, plan)
        if found is not None:
            kill, again = found, datetime.datetime.now(datetime.UTC)
            say(_told(kill, total))
            say(told_lag("Group lag at that point", kill.lag))
            say("Restarted: a new driver continues from the checkpoints.")
        elif why is None:
            if kill is None:
                say("The driver finished before it could be killed.")
            return kill, again
        else:
            attempts -= 1
            if _BUSY not in why or not attempts:
                raise KafkaError(f"a Spark driver of the demo failed: {why[:1000]}; its log is {log}")
            say(f"The driver failed because this machine is busy ({_BUSY}): a new one continues.")


def _told(kill: Kill, total: int) -> str:
    where = "between two micro-batches" if kill.batch is None else f"in the middle of micro-batch {kill.batch}"
    text = f"Killed the driver (kill -9) {where}, after {kill.rows:,} of {total:,} records"
    if kill.open_transactions:
        left = kill.open_transactions
        text += f"; it left {left} transaction{'s' * (left > 1)} open"
    return f"{text}."


def told_lag(what: str, lag: dict[str, int]) -> str:
    """Describe the lag of groups."""
    return f"{what}: {', '.join(f'{group} {records:,}' for group, records in lag.items())}."


def lag_of(plan: Plan) -> dict[str, int]:
    """Return the lag of each group, by its name."""
    groups = plan.groups.values()
    return {group: group_lag(plan.bootstrap_servers, group, SOURCE_TOPIC, plan.starting) for group in groups}


@contextlib.contextmanager
def driver(plan: Plan, log: pathlib.Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a driver with its JVM in a new session; kill any remaining processes at the end."""
    command = [*_COMMAND, str(plan.write())]
    with log.open("ab") as out:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=out, stderr=out, start_new_session=True)
    try:
        yield process
    finally:
        _signal(process, signal.SIGKILL)
        process.wait()
        assert process.stdin is not None
        process.stdin.close()


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Send a signal to the driver and its JVM, which form a process group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS raises the second instead of the first
        os.killpg(process.pid, number)


def _failure(process: subprocess.Popen[bytes], plan: Plan) -> str | None:
    """Wait for the driver to end; return the reason if it failed, otherwise None."""
    status = process.wait()
    if not status:
        return None
    if not plan.failure.exists():
        return f"its exit status is {status}"
    why = plan.failure.read_text(encoding="utf-8")
    plan.failure.unlink()
    return why


def _kill_in_flight(process: subprocess.Popen[bytes], plan: Plan, total: int) -> Kill | None:
    """Kill the driver in the middle of its work; return None if it ended before that.

    The driver is killed when a micro-batch in the middle has open transactions in Kafka, or at the latest when the next
    micro-batch has begun. It is suspended before its state is read, so that the state cannot change before the kill.
    """
    middle = -(-total // plan.records_per_trigger) // 2
    checkpoint = plan.checkpoint(TOPIC_QUERY)
    while process.poll() is None:
        batch = in_flight(checkpoint)
        left = 0 if batch is None or batch < middle else _open_transactions(plan)
        if left or (batch is not None and batch > middle) or (batch == middle == 0):
            _signal(process, signal.SIGSTOP)
            if in_flight(checkpoint) == batch:
                at = datetime.datetime.now(datetime.UTC)
                _signal(process, signal.SIGKILL)
                process.wait()
                batch, left = in_flight(checkpoint), _open_transactions(plan)
                return Kill(at, batch, rows_done(plan), left, lag_of(plan))
            _signal(process, signal.SIGCONT)
        time.sleep(_LOOK_EVERY_S)
    return None


def _open_transactions(plan: Plan) -> int:
    """Return the number of the query's open transactions; 0 for brokers before 3.0, which cannot list them."""
    with contextlib.suppress(KafkaError):
        return len(transactions(plan.transactional_id_prefix, bootstrap_servers=plan.bootstrap_servers).open)
    return 0


def in_flight(checkpoint: pathlib.Path) -> int | None:
    """Return the micro-batch of a checkpoint that has begun and is unfinished; None if there is none."""
    begun = max(_numbers(checkpoint / "offsets"), default=None)
    return None if begun is None or begun in _numbers(checkpoint / "commits") else begun


def rows_done(plan: Plan) -> int:
    """Return the number of records that the query to the topic has finished, according to its checkpoint."""
    checkpoint = plan.checkpoint(TOPIC_QUERY)
    done = max(_numbers(checkpoint / "commits"), default=None)
    if done is None:
        return 0
    offsets = json.loads((checkpoint / "offsets" / str(done)).read_text().splitlines()[-1])[SOURCE_TOPIC]
    return sum(offset - plan.starting[int(partition)] for partition, offset in offsets.items())


def _numbers(folder: pathlib.Path) -> set[int]:
    return {int(path.name) for path in folder.glob("*") if path.name.isdigit()}
