"""Runs the commands of the demo in processes with Spark: kills one at work, and starts another that continues.

A driver that fails because the machine is busy is restarted.
"""

import contextlib
import dataclasses
import json
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

from kafka.cli.demo.ingest import group_lag
from kafka.cli.demo.names import FILE, Names
from kafka.errors import KafkaError
from kafka.spark import transactions

_DRIVER = (sys.executable, "-m", "kafka.cli.demo.spark_driver")
_LOOK_EVERY_S = 0.1
_ATTEMPTS = 5
_BUSY = "Python worker failed to connect back"
"""Spark gives a Python process ten seconds to start. A driver that failed this way is restarted without loss."""
_END = 4_000
"""Number of bytes at the end of a driver's output in which errors are."""

Say = Callable[[str], None]


@dataclasses.dataclass(frozen=True)
class Kill:
    """The state of the run when its driver was killed.

    Arguments:
        batch: the unfinished micro-batch; None between two micro-batches.
        rows: number of records in the finished micro-batches.
        open_transactions: number of transactions that the driver left open in Kafka.
        lag: number of records that the pipeline's group had not committed.
    """

    batch: int | None
    rows: int
    open_transactions: int
    lag: int


def run_with_a_kill(names: Names, batches: int, total: int, say: Say) -> Kill | None:
    """Run the pipeline to its end, killing its driver on the way.

    Arguments:
        names: the names of the pipeline.
        batches: number of micro-batches that the run will have.
        total: number of records to read.
        say: called with a message for each step.

    Returns the state when the driver was killed; None if it finished before. Raises `KafkaError` if a driver fails.
    """
    command = ("pipeline", "run", FILE)
    kill: Kill | None = None

    def watch(process: subprocess.Popen[bytes]) -> bool:
        nonlocal kill
        kill = _kill_in_flight(process, names, batches // 2)
        return kill is not None

    if not run_command(names, command, say, watch=watch):
        assert kill is not None
        say(_told(kill, total))
        say("Restarted: a new driver continues from the checkpoint.")
        run_command(names, command, say)
    else:
        say("The driver finished before it could be killed.")
    return kill


def _told(kill: Kill, total: int) -> str:
    where = "between two micro-batches" if kill.batch is None else f"in the middle of micro-batch {kill.batch}"
    text = f"Killed the driver (kill -9) {where}, after {kill.rows:,} of {total:,} records"
    if kill.open_transactions:
        left = kill.open_transactions
        text += f"; it left {left} transaction{'s' * (left > 1)} open"
    return f"{text}. The lag of the group is {kill.lag:,}."


def run_command(
    names: Names,
    command: tuple[str, ...],
    say: Say,
    *,
    output: pathlib.Path | None = None,
    fails: bool = False,
    watch: Callable[[subprocess.Popen[bytes]], bool] = lambda process: False,
) -> bool:
    """Run a command of ``kafka`` in a driver, in the output directory.

    Arguments:
        names: the names of the pipeline.
        command: the arguments of ``kafka``.
        say: called with a message for each step.
        output: the file for its standard output; None to append it to the log.
        fails: whether the exit status 1 is a result, not an error.
        watch: called with the process; it returns True if it killed the process.

    Returns False if the driver was killed. Raises `KafkaError` if it fails.
    """
    say(f"$ {shlex.join(['kafka', *command])}".removesuffix(" --json"))
    for attempt in range(1, _ATTEMPTS + 1):
        begin = names.log.stat().st_size if names.log.exists() else 0
        with _driver(names, command, output) as process:
            if watch(process):
                return False
            status = process.wait()
        if not status or (fails and status == 1 and output is not None and output.stat().st_size):
            return True
        why = _failure(names.log, begin, status)
        if _BUSY not in why or attempt == _ATTEMPTS:
            raise KafkaError(f"a Spark driver of the demo failed: {why[:1000]}; its log is {names.log}")
        say(f"The driver failed because this machine is busy ({_BUSY}): a new one continues.")
    raise AssertionError("the last attempt returns or raises")


@contextlib.contextmanager
def _driver(names: Names, command: tuple[str, ...], output: pathlib.Path | None) -> Iterator[subprocess.Popen[bytes]]:
    """Run a driver with its JVM in a new session; kill any remaining processes at the end."""
    with contextlib.ExitStack() as files:
        log = files.enter_context(names.log.open("ab"))
        out = log if output is None else files.enter_context(output.open("wb"))
        process = subprocess.Popen(
            [*_DRIVER, *command],
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=log,
            cwd=names.output,
            env={**os.environ, "PYTHONSAFEPATH": "1"},  # the output directory may contain a module called kafka
            start_new_session=True,
        )
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


def _failure(log: pathlib.Path, begin: int, status: int) -> str:
    """Return the reason why a driver failed: the last error in what it added to the log from `begin` on."""
    with log.open("rb") as file:
        file.seek(max(begin, file.seek(0, os.SEEK_END) - _END))
        lines = file.read().decode("utf-8", "replace").splitlines()
    errors = [line.removeprefix("Error: ") for line in lines if line.startswith("Error: ")]
    return errors[-1] if errors else f"its exit status is {status}"


def _kill_in_flight(process: subprocess.Popen[bytes], names: Names, middle: int) -> Kill | None:
    """Kill the driver in the middle of its work; return None if it ended before that.

    The driver is killed when a micro-batch from `middle` on has open transactions in Kafka, or at the latest when the
    next micro-batch has begun. It is suspended before its state is read, so that the state cannot change before the
    kill.
    """
    while process.poll() is None:
        batch = in_flight(names.stream)
        left = 0 if batch is None or batch < middle else _open_transactions(names)
        if left or (batch is not None and batch > middle) or (batch == middle == 0):
            _signal(process, signal.SIGSTOP)
            if in_flight(names.stream) == batch and (not left or _open_transactions(names)):
                _signal(process, signal.SIGKILL)
                process.wait()
                return Kill(batch, rows_done(names), _open_transactions(names), group_lag(names))
            _signal(process, signal.SIGCONT)
        time.sleep(_LOOK_EVERY_S)
    return None


def _open_transactions(names: Names) -> int:
    """Return the number of the pipeline's open transactions; 0 for brokers before 3.0, which cannot list them."""
    with contextlib.suppress(KafkaError):
        return len(transactions(names.pipeline, bootstrap_servers=names.bootstrap_servers).open)
    return 0


def in_flight(checkpoint: pathlib.Path) -> int | None:
    """Return the micro-batch of a checkpoint that has begun and is unfinished; None if there is none."""
    begun = max(_numbers(checkpoint / "offsets"), default=None)
    return None if begun is None or begun in _numbers(checkpoint / "commits") else begun


def rows_done(names: Names) -> int:
    """Return the number of records in the finished micro-batches, according to the checkpoint."""
    done = max(_numbers(names.stream / "commits"), default=None)
    if done is None:
        return 0
    offsets = json.loads((names.stream / "offsets" / str(done)).read_text().splitlines()[-1])
    return sum(offsets[names.source].values())


def _numbers(folder: pathlib.Path) -> set[int]:
    return {int(path.name) for path in folder.glob("*") if path.name.isdigit()}
