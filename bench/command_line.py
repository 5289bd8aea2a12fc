"""`python -m bench.command_line`: a million records through ``kafka consume`` and through kcat, by turns; and starting.

Both write to /dev/null. kcat is Debian's package of that name; without it the other is measured alone.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.apache import ApacheKafka
from harness.fetch import KAFKA_VERSION

TOPIC = "million"
KAFKA = (sys.executable, "-m", "kafka_columnar")


def measured(command: Sequence[str]) -> tuple[float, float]:
    """Seconds, and processor seconds, that a command takes."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    seconds, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def by_turns(commands: Mapping[str, Sequence[str]], rounds: int) -> None:
    """Run them one after the other, again and again; print the medians."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            found[name].append(measured(command))
    for name, each in found.items():
        seconds, cpu = (statistics.median(column) for column in zip(*each, strict=True))
        best = min(one for one, _ in each)
        print(f"{name:<28} median {seconds:7.3f} s  best {best:7.3f} s  processor {cpu:7.3f} s", flush=True)


def fill(servers: str, records: int, size: int, compression: str) -> None:
    """A topic of one partition."""
    lines = b"".join(b"%0*d\n" % (size, number) for number in range(records))
    env = {**os.environ, "KAFKA_BOOTSTRAP_SERVERS": servers}
    subprocess.run([*KAFKA, "topics", "create", TOPIC], env=env, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([*KAFKA, "produce", TOPIC, "-z", compression], env=env, input=lines, check=True)


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(prog="python -m bench.command_line", description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--size", type=int, default=100)
    parser.add_argument("--compression", default="none")
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with (
        tempfile.TemporaryDirectory() as folder,
        ApacheKafka(Path(folder), version=KAFKA_VERSION) as broker,
    ):
        servers = broker.bootstrap_servers
        fill(servers, given.records, given.size, given.compression)
        consume: dict[str, Sequence[str]] = {"kafka consume": [*KAFKA, "-b", servers, "consume", TOPIC]}
        if kcat := shutil.which("kcat"):
            consume["kcat"] = [kcat, "-C", "-b", servers, "-t", TOPIC, "-o", "beginning", "-e", "-q"]
            # by default it stands still for a second whenever its queue was full
            large = ("queued.max.messages.kbytes=2097151", "queued.min.messages=10000000")
            consume["kcat, large queue"] = [*consume["kcat"], "-X", large[0], "-X", large[1]]
        by_turns(consume, given.rounds)
        start = {
            "kafka --help": [*KAFKA, "--help"],
            "kafka topics list": [*KAFKA, "-b", servers, "topics", "list"],
        }
        by_turns(start, given.rounds)


if __name__ == "__main__":
    main()
