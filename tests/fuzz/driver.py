"""Compares two workers on numbers until the time is over or enough have run, or they, or the reference, disagree."""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import select
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from fuzz import DISAGREEMENT

HERE = Path(__file__).resolve().parent
BLOCK = 50
SILENT_S = 600
"""After how long without a line a worker counts as hanging. Values of a million items without bytes take a minute or
two with sanitizers; other inputs take less than a second."""


MOST_UNSEEN = 100
"""So many allocations may be Python's frames' own, which it keeps where the sanitizer does not look."""


class Failure(Exception):
    """Something is wrong with an input; the message says what."""


class Leak(Failure):
    """Inputs leave something behind; the message says what."""


class Worker:
    """A process that runs inputs in one variant.

    Args:
        name: for messages.
        environment: what its environment has beside, or instead of, that of this process.
        only: the name of the target that all inputs are for, if it is not drawn.
    """

    def __init__(self, name: str, environment: dict[str, str], only: str | None = None) -> None:
        self.name = name
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # `close` closes it
        self._process = subprocess.Popen(
            [sys.executable, "-m", "fuzz.worker", *([only] if only else [])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            cwd=HERE.parent,
            env={**os.environ, **environment},
        )
        self._read = b""
        self.variant = self.line(0)

    def ask(self, text: str) -> None:
        """Send a command."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(text.encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # the missing answer is told of

    def line(self, number: int) -> str:
        """Read a line of its answer, which belongs to an input or to one before it.

        Raises:
            Failure: it ended, or hangs.
        """
        assert self._process.stdout is not None
        while b"\n" not in self._read:
            if not select.select([self._process.stdout], [], [], SILENT_S)[0]:
                raise Failure(f"input {number} hangs in the {self.name} variant")
            some = os.read(self._process.stdout.fileno(), 1 << 16)
            if not some:
                raise Failure(f"input {number} ends the {self.name} variant ({self._process.wait()}):\n{self.errors()}")
            self._read += some
        line, _, self._read = self._read.partition(b"\n")
        return line.decode()

    def errors(self) -> str:
        """The end of what it wrote to standard error."""
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace")[-6000:]

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.communicate()
        self._errors.close()


def sanitized(folder: Path) -> dict[str, str]:
    """The environment of a worker whose modules were compiled with sanitizers into a folder."""
    libraries = []
    for name in ("libasan.so", "libubsan.so"):
        found = subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True)
        libraries.append(found.stdout.strip())
    return {
        "LD_PRELOAD": " ".join(libraries),
        "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": str(folder.resolve()),
        "KAFKA_PURE": "0",
    }


def kept() -> list[int]:
    """Numbers of inputs that once showed something."""
    lines = (HERE / "kept.txt").read_text().splitlines()
    return [int(line.split()[0]) for line in lines if line and not line.startswith("#")]


def blocks(start: int, count: int | None, with_kept: bool) -> Iterator[tuple[int, int]]:
    """First numbers and counts: those kept, then from the start on, so many or without an end."""
    if with_kept:
        yield from ((number, 1) for number in kept())
    first, left = start, count
    while left is None or left > 0:
        size = BLOCK if left is None else min(BLOCK, left)
        yield first, size
        first += size
        left = None if left is None else left - size


def compare(workers: list[Worker], first: int, count: int) -> None:
    """Run a block in each worker.

    Raises:
        Failure: they disagree with each other or with the reference, or one of them came to an end.
    """
    for worker in workers:
        worker.ask(f"{first} {count}")
    for number in range(first, first + count):
        lines = [worker.line(number) for worker in workers]
        if len(set(lines)) > 1:
            raise Failure(f"input {number} differs:\n" + "\n".join(shown(worker, number) for worker in workers))
        if f" {DISAGREEMENT} " in lines[0]:
            raise Failure(f"input {number} is not read as by the reference:\n{shown(workers[0], number)}")


def check_leaks(worker: Worker, count: int) -> None:
    """Check that a worker leaked nothing while it ran `count` inputs.

    Raises:
        Leak: it leaked.
    """
    worker.ask(f"leaks {count}")
    found = json.loads(worker.line(count))
    told = re.search(r"leaked in (\d+) allocation", worker.errors())
    if told is not None and int(told[1]) > MOST_UNSEEN:
        found = "memory is left that nothing refers to"
    if found:
        raise Leak(f"{count} inputs are done, and {found}:\n{worker.errors()}")


def shown(worker: Worker, number: int) -> str:
    """The whole outcome of an input; the worker's remaining lines of its block are skipped."""
    worker.ask(f"show {number}")
    while not (line := worker.line(number)).startswith("["):
        pass
    target, said = json.loads(line)
    return f"--- {worker.name}, {target}:\n{said[:4000]}"


def main() -> int:
    """Run the fuzzer and print its progress; returns 1 if something is wrong."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=30.0, help="how long (default 30)")
    parser.add_argument("--inputs", type=int, help="so many inputs beside those kept, whatever time it takes")
    parser.add_argument("--start", type=int, help="the first number; by the clock if it is not given")
    parser.add_argument("--count", type=int, help="as --inputs, without those kept")
    parser.add_argument("--sanitized", type=Path, help="a folder with modules compiled with sanitizers")
    parser.add_argument("--only", help="the target of all inputs, such as avro")
    options = parser.parse_args()
    start = options.start if options.start is not None else int(time.time()) * 1000
    environment = sanitized(options.sanitized) if options.sanitized else {"KAFKA_PURE": "0"}
    compiled = Worker("compiled", environment, options.only)
    workers = [compiled, Worker("plain", {"KAFKA_PURE": "1"}, options.only)]
    if [worker.variant for worker in workers] != ["compiled", "plain"]:
        print(f"fuzz: the variants are {[worker.variant for worker in workers]}: nothing to compare", flush=True)
        return 1
    wanted = options.count if options.count is not None else options.inputs
    ran, end = 0, time.monotonic() + (options.seconds if wanted is None else math.inf)
    try:
        for first, count in blocks(start, wanted, with_kept=options.count is None):
            if time.monotonic() > end:
                break
            compare(workers, first, count)
            if not ran:
                compiled.ask(f"watch {first}")
            ran += count
        check_leaks(compiled, ran)
    except Leak as leak:
        print(f"fuzz: {leak}", flush=True)
        return 1
    except Failure as failure:
        again = shlex.join([Path(sys.executable).name, "-m", "fuzz", *_again(str(failure), options)])
        print(f"fuzz: {failure}\nAgain: cd tests && {again}", flush=True)
        return 1
    finally:
        for worker in workers:
            worker.close()
    compared = f"compiled{' with sanitizers' * bool(options.sanitized)}, plain and the reference"
    print(f"fuzz: {ran} inputs from {start} on, {compared} agree")
    return 0


def _again(failure: str, options: argparse.Namespace) -> list[str]:
    """The arguments that run one input again."""
    arguments = ["--start", failure.split()[1], "--count", "1"]
    if options.only:
        arguments += ["--only", options.only]
    return arguments + (["--sanitized", str(options.sanitized.resolve())] if options.sanitized else [])
