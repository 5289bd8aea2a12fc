"""`python -m bench`: start Apache Kafka, fill the topics, run the rounds, write tables and a chart to bench/results."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from bench import ROOT, tasks
from bench.chart import draw
from bench.circumstances import circumstances
from bench.figures import Row, settled
from bench.report import markdown, missed, slower_than_before
from bench.roster import CLIENTS, OTHER_TREE, lacks
from bench.runner import Runner
from bench.store import Run, save
from bench.topics import fill
from bench.workload import storage, store
from harness.apache import ApacheKafka
from harness.fetch import KAFKA_VERSION, FetchError
from harness.zookeeper_kafka import ZooKeeperKafka

RESULTS = ROOT / "bench" / "results"
BROKER_SETTINGS = {"message.max.bytes": str(16 << 20), "num.network.threads": "2"}
TABLES = {
    "bench": tasks.usual,
    "full": tasks.full,
    "quick": tasks.quick,
    "small": tasks.small,
    "before": tasks.against_other_tree,
}
ROUNDS = {"full": 3, "before": 3}
"""Rounds per row. All others run one, and `bench` adds rounds for rows without a clear result."""
MOST_ROUNDS = 4
MORE_ROUNDS_S = 23 * 60
"""Within this time of its start `bench` begins further rounds."""
SHORT = ("quick", "small")


def say(text: str) -> None:
    """Print a line at once."""
    print(text, flush=True)


def arguments() -> argparse.Namespace:
    """Parse the command line; without arguments everything is run."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    extent = parser.add_mutually_exclusive_group()
    extent.add_argument(
        "--quick",
        action="store_const",
        const="quick",
        dest="extent",
        help="a part of it, with small topics and one round: a minute",
    )
    extent.add_argument(
        "--small",
        action="store_const",
        const="small",
        dest="extent",
        help="all tasks, with small topics and one round: all work",
    )
    extent.add_argument(
        "--full",
        action="store_const",
        const="full",
        dest="extent",
        help="with three rounds of each row, and with clients of which nothing is asked: half an hour",
    )
    extent.add_argument(
        "--before",
        type=Path,
        metavar="TREE",
        help="this tree against another checkout, built in place: whether a row has become slower",
    )
    parser.set_defaults(extent="bench")
    parser.add_argument("--rounds", type=int, help="how often each client runs each task")
    parser.add_argument("--task", action="append", help="only this task (may be given again)")
    parser.add_argument("--client", action="append", help="only this client (may be given again)")
    parser.add_argument("--codec", action="append", help="only topics of this codec (may be given again)")
    parser.add_argument("--size", action="append", type=int, help="only records of this size (may be given again)")
    parser.add_argument("--bootstrap-servers", help="a running cluster, instead of one started here")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the folder for tables and chart")
    parser.add_argument("--name", help="the files' name there (the extent: bench, full, quick, small or before)")
    options = parser.parse_args()
    if options.before:
        if not (options.before / "src" / "kafka" / "__init__.py").exists():
            parser.error(f"argument --before: expected a checkout of this project, got {options.before}")
        os.environ[OTHER_TREE] = str(options.before.resolve())
        options.extent = "before"
    return options


def decoder_figures(quick: bool) -> str:
    """Run bench/decode.py and bench/formats.py, decoders without a broker, and return what they print."""
    printed = []
    for module in ("bench.decode", "bench.formats"):
        command = [sys.executable, "-m", module, *(["--quick"] if quick else [])]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
        if done.returncode:
            raise SystemExit(f"{module} failed:\n{done.stderr[-2000:]}")
        printed.append(done.stdout)
    return "\n".join(printed)


def chosen(table: Sequence[tasks.Task], options: argparse.Namespace) -> list[tasks.Task]:
    """The tasks that the options leave, with the clients and topics that they leave.

    Raises:
        SystemExit: there are none, or a task is asked for that is not there.
    """
    unknown = set(options.task or ()) - {task.name for task in table}
    found = []
    for task in table:
        if options.task and task.name not in options.task:
            continue
        found.append(
            tasks.narrowed(
                task,
                lambda client: not options.client or client in options.client,
                lambda topic: (
                    (not options.codec or topic.codec in options.codec)
                    and (not options.size or topic.size in options.size)
                ),
            )
        )
    left = [task for task in found if task.topics and task.running]
    if unknown or not left:
        names = ", ".join(dict.fromkeys(task.name for task in table))
        raise SystemExit(
            f"Expected options that leave something to measure, got {' '.join(sys.argv[1:])}; the tasks are {names}"
        )
    return left


def run(table: Sequence[tasks.Task], bootstrap_servers: str, rounds: int, until: float) -> list[Row]:
    """Fill what is read, then run row after row; after that more rounds of the rows that are not settled.

    Arguments:
        rounds: of each row.
        until: no further round of unsettled rows begins after this, by `time.perf_counter`.
    """
    start = time.perf_counter()
    topics = {topic for task in table for topic in task.moved()}
    for size in sorted({topic.size for topic in topics}):
        store(max(topic.count for topic in topics if topic.size == size), size)
    for topic in sorted({topic for task in table if task.reads for topic in task.moved()}, key=lambda t: t.name):
        fill(bootstrap_servers, topic)
    say(f"made the records and filled the topics in {time.perf_counter() - start:.0f} s")
    runner = Runner(bootstrap_servers, say)
    plan = [(task, topic, tasks.row(task, topic)) for task in table for topic in task.topics]
    for each in plan:
        for _ in range(rounds):
            runner.round(*each)
    for _ in range(rounds, MOST_ROUNDS):
        for task, topic, row in plan:
            if not settled(row) and time.perf_counter() < until:
                runner.round(task, topic, row)
    return [row for _, _, row in plan]


def run_on_old_brokers(table: Sequence[tasks.Task], rounds: int, until: float) -> list[Row]:
    """As `run`, for the tasks that name a release of the broker; what cannot be run here is skipped by name."""
    rows = []
    for release in sorted({task.kafka for task in table} - {""}):
        chosen = [task for task in table if task.kafka == release]
        missing = {reason for task in chosen for client in task.running if (reason := lacks(CLIENTS[client]))}
        try:
            if missing:
                raise FetchError(", ".join(missing))
            with ZooKeeperKafka(release, heap="1g", full_jit=True) as kafka:
                rows += run(chosen, kafka.bootstrap_servers, rounds, until)
        except FetchError as error:
            say(f"skipped: {', '.join(task.name for task in chosen)}: {error}")
    return rows


def main() -> None:
    """Run the benchmarks; the exit status is 1 if a client could not do its task, or a row is slower than before."""
    options = arguments()
    rounds = options.rounds or ROUNDS.get(options.extent, 1)
    table = chosen(TABLES[options.extent](), options)
    start = time.perf_counter()
    until = start + MORE_ROUNDS_S if options.extent == "bench" and not options.rounds else start
    decoder = "" if options.before else decoder_figures(quick=options.extent in SHORT)
    with storage():
        todays = [task for task in table if not task.kafka]
        if options.bootstrap_servers:
            rows = run(todays, options.bootstrap_servers, rounds, until)
        elif todays:
            with ApacheKafka(heap="1g", full_jit=True, properties=BROKER_SETTINGS) as kafka:
                rows = run(todays, kafka.bootstrap_servers, rounds, until)
        else:
            rows = []
        rows += run_on_old_brokers(table, rounds, until)
    command = " ".join(["python -m bench", *sys.argv[1:]])
    about = circumstances(rows, command, KAFKA_VERSION, time.perf_counter() - start)
    report = markdown(rows, decoder, about)
    target = options.results / (options.name or options.extent)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.with_suffix(".md").write_text(report)
    draw(rows, target.with_suffix(".svg"))
    save(target.with_suffix(".json"), Run(about, rows))
    say(f"\n{report}\nwritten to {target}.md, .svg and .json")
    for line in missed(rows):
        say(f"missed: {line}")
    slower = slower_than_before(rows)
    for line in slower:
        say(f"slower: {line}")
    if slower or any(row.failures for row in rows):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
