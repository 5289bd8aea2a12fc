"""`python -m bench.flat`: what should stay flat as clusters and topics grow, as a Markdown table.

An idle consumer, many partitions with little in each, many topics in the cluster, the start-up of a consumer,
decoding in two threads, and new connections next to busy ones, on the embedded broker and on Apache Kafka. Each probe
runs in a separate process. Probes that are compared take turns, several times, and the medians count. The clusters are
Apache Kafka, started here.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bench import ROOT
from bench.flat_topics import fill_partitions, make_topics
from harness.apache import ApacheKafka
from harness.topics import create_topic

PROBE_TIMEOUT_S = 180
ROUNDS = 5
ROUNDS_AMONG_MANY = 15
"""A difference of a tenth should be visible, but single rounds differ by more."""
RECORDS = 2_000_000
"""As many as in the topics of `python -m bench`: 2,000 in each of 1,000 partitions."""
RECORDS_AMONG_MANY = 400_000
MANY_PARTITIONS = 1000
FEW_TOPICS = 10
MANY_TOPICS = 10_000
BUSY = 200
DIALS = 300
HEADING = ("| what | figure | asked |", "|---|---:|---:|")


@dataclass(frozen=True)
class Line:
    """A line of the table; `reached` is None if there is no target."""

    what: str
    figure: str
    asked: str = ""
    reached: bool | None = None

    def __str__(self) -> str:
        missed = " **missed**" if self.reached is False else ""
        return f"| {self.what} | {self.figure}{missed} | {self.asked} |"


def probe(name: str, **arguments: Any) -> dict[str, float]:
    """Run a function of `bench.flat_probes` in a separate process, and return its result.

    Raises:
        RuntimeError: it failed.
    """
    given = json.dumps({"started": time.time(), **arguments})
    command = [sys.executable, "-m", "bench.flat_probes", name, given]
    done = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PROBE_TIMEOUT_S,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"the probe {name} failed:\n{done.stderr[-2000:]}")
    told: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return told


def in_turn(name: str, cases: Sequence[dict[str, Any]], rounds: int = ROUNDS) -> list[dict[str, float]]:
    """Run a probe on each case, in turn, several times; gives the medians of each."""
    told: list[list[dict[str, float]]] = [[] for _ in cases]
    for _ in range(rounds):
        for number, case in enumerate(cases):
            told[number].append(probe(name, **case))
    return [{key: statistics.median(each[key] for each in one) for key in one[0]} for one in told]


def idle() -> list[Line]:
    """A consumer of 50 partitions on three brokers, to which nothing comes."""
    with ApacheKafka(nodes=3, heap="384m") as kafka:
        create_topic(kafka.bootstrap_servers, "idle", 50)
        lines = []
        for title, group in (("in a group", "idlers"), ("without a group", None)):
            share = (
                100 * probe("idle", servers=kafka.bootstrap_servers, topic="idle", partitions=50, group=group)["share"]
            )
            what = f"idle consumer {title}, 50 partitions on 3 brokers"
            lines.append(Line(what, f"{share:.2f} % of a core", "under 1 %", share < 1))
        return lines


def partitions() -> list[Line]:
    """The same records in 4 partitions and in 1,000, and the time until the first record."""
    with ApacheKafka(heap="1g", full_jit=True) as kafka:
        servers = kafka.bootstrap_servers
        cases: list[dict[str, Any]] = [
            {"servers": servers, "topic": f"flat-{n}", "partitions": n} for n in (4, MANY_PARTITIONS)
        ]
        for case in cases:
            fill_partitions(servers, case["topic"], case["partitions"], RECORDS)
        few, many = in_turn("read", [{**case, "records": RECORDS} for case in cases])
        return [*_many_partitions(few, many), *start_up(servers, cases[0]["topic"])]


def _many_partitions(few: dict[str, float], many: dict[str, float]) -> list[Line]:
    what = f"`poll_arrow` on {MANY_PARTITIONS:,} partitions against 4, the same {RECORDS:,} records"
    return [
        Line(f"{what}: {name}", f"{many[key] / few[key]:.2f} times", "within 2 times", many[key] / few[key] <= 2)
        for name, key in (("time", "seconds"), ("processor time", "cpu"))
    ]


def start_up(servers: str, topic: str) -> list[Line]:
    """A process that begins, imports, connects and reads a record."""
    clients = ("ours", "confluent")
    ours, confluent = in_turn("start_up", [{"servers": servers, "topic": topic, "client": each} for each in clients])
    return [
        Line(f"a consumer's first record, {name}", f"{ours[key]:.0f} ms (confluent-kafka: {confluent[key]:.0f} ms)")
        for name, key in (("from the start of the process", "process"), ("imports not counted", "client"))
    ]


def topics() -> list[Line]:
    """One topic in a cluster of ten topics, and in one of 10,000."""
    with ApacheKafka(heap="1g", full_jit=True) as small, ApacheKafka(heap="1g", full_jit=True) as large:
        make_topics(small.bootstrap_servers, FEW_TOPICS)
        make_topics(large.bootstrap_servers, MANY_TOPICS)
        cases: list[dict[str, Any]] = [
            {"servers": each.bootstrap_servers, "topic": "flat-4", "partitions": 4} for each in (small, large)
        ]
        for case in cases:
            fill_partitions(case["servers"], "flat-4", 4, RECORDS_AMONG_MANY)
        lines = []
        for name, title in (("read", "`poll_arrow`"), ("write", "`send_arrow`")):
            few, many = in_turn(name, [{**case, "records": RECORDS_AMONG_MANY} for case in cases], ROUNDS_AMONG_MANY)
            ratio = many["cpu"] / few["cpu"]
            what = f"{title} of one topic among {MANY_TOPICS:,} against {FEW_TOPICS}"
            lines.append(Line(f"{what}: processor time", f"{ratio:.2f} times", "within 1.10", ratio <= 1.1))
            ratio = few["seconds"] / many["seconds"]
            lines.append(Line(f"{what}: records a second", f"{ratio:.2f} times", "at least 0.90", ratio >= 0.9))
        return lines


def threads() -> list[Line]:
    """Decoding in one thread and in two."""
    one, two = in_turn("decode", [{"threads": 1}, {"threads": 2}])
    figure = f"{one['rate'] / 1e6:.1f} and {two['rate'] / 1e6:.1f} million/s, {two['rate'] / one['rate']:.2f} times"
    overlap = f"{two['busy']:.2f} cores busy"
    return [Line("decoding in 1 thread and in 2, uncompressed records of 100 bytes", f"{figure}, {overlap}")]


@contextlib.contextmanager
def embedded() -> Iterator[str]:
    """Start an embedded broker in a separate process, and yield its address."""
    command = [sys.executable, "-m", "kafka", "broker", "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().split()[-1]
        finally:
            process.terminate()


def neighbours() -> list[Line]:
    """New connections next to busy ones, on both brokers."""
    with ApacheKafka(full_jit=True) as kafka, embedded() as ours:
        cases = [{"servers": each, "busy": BUSY, "dials": DIALS} for each in (ours, kafka.bootstrap_servers)]
        here, there = in_turn("beside_busy_ones", cases)
    what = f"{DIALS} new connections to the embedded broker beside {BUSY} busy ones: first answer"
    longest = f"{here['longest']:.2f} s (Apache Kafka: {there['longest']:.2f} s)"
    return [
        Line(f"{what}, longest wait", longest, "within 2 times", here["longest"] <= 2 * there["longest"]),
        Line(f"{what}, median", f"{here['median']:.2f} s (Apache Kafka: {there['median']:.2f} s)"),
    ]


PARTS: dict[str, Callable[[], list[Line]]] = {
    "idle": idle,
    "partitions": partitions,
    "topics": topics,
    "threads": threads,
    "neighbours": neighbours,
}


def main() -> None:
    """Print the table; the exit status is 1 if something is not as flat as asked."""
    parser = argparse.ArgumentParser(prog="python -m bench.flat", description=__doc__)
    parser.add_argument("part", nargs="*", help=f"only some of {', '.join(PARTS)}")
    chosen = parser.parse_args().part or list(PARTS)
    unknown = [each for each in chosen if each not in PARTS]
    if unknown:
        parser.error(f"there is no part {unknown[0]!r}, only {', '.join(PARTS)}")
    print("\n".join(HEADING), flush=True)
    lines = []
    for each in chosen:
        for line in PARTS[each]():
            print(line, flush=True)
            lines.append(line)
    if any(line.reached is False for line in lines):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
