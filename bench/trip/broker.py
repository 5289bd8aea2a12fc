"""A broker of this package in another process: `python -m bench.trip.broker` runs one until its input ends."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from bench import ROOT


@contextmanager
def broker_process(module: str = "bench.trip.broker", *arguments: str) -> Iterator[str]:
    """Run a broker for as long as the context lasts, and yield its address.

    Arguments:
        module: a program that prints the address, and ends with its input.
        arguments: for the program.

    Raises:
        RuntimeError: it did not start.
    """
    environment = {name: value for name, value in os.environ.items() if name != "KAFKA_PURE"}
    command = [sys.executable, "-m", module, *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        if not address:
            raise RuntimeError(f"{' '.join(command)} ended with status {process.wait()} before it was ready")
        yield address
        process.stdin.close()


def main() -> None:
    """Run a broker."""
    from kafka.broker import EmbeddedBroker

    with EmbeddedBroker() as broker:
        print(broker.bootstrap_servers, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
