"""`python -m bench`: start Apache Kafka, fill the topics, run the rounds, write the tables to bench/results."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence

from bench import ROOT, tasks
from bench.report import Circumstances, markdown
from bench.runner import Row, Runner
from bench.topics import fill
from harness.apache import ApacheKafka
from harness.fetch import KAFKA_VERSION

RESULTS = ROOT / "bench" / "results"
BROKER_SETTINGS = {"message.max.bytes": str(16 << 20), "num.network.threads": "2"}


def say(text: str) -> None:
    """Print a line at once."""
    print(text, flush=True)


def arguments() -> argparse.Namespace:
    """Parse the command line; without arguments everything is run."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small topics and one round: shows that it works")
    parser.add_argument("--rounds", type=int, help="how often each client runs each task (3, and 1 with --quick)")
    parser.add_argument("--task", action="append", help="only this task (may be given again)")
    parser.add_argument("--client", action="append", help="only this client (may be given again)")
    parser.add_argument("--codec", action="append", help="only topics of this codec (may be given again)")
    parser.add_argument("--bootstrap-servers", help="a running cluster, instead of one started here")
    return parser.parse_args()


def decoder_figures() -> str:
    """Run bench/decode.py, the decoder without a broker, and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.decode"], cwd=ROOT, capture_output=True, text=True, timeout=600, check=False
    )
    if done.returncode:
        raise SystemExit(f"bench/decode.py failed:\n{done.stderr[-2000:]}")
    return done.stdout


def run(chosen: Sequence[tasks.Task], options: argparse.Namespace, bootstrap_servers: str, rounds: int) -> list[Row]:
    """Fill what is read, then run row after row."""
    codecs = options.codec or [topic.codec for task in chosen for topic in task.topics]
    read = {topic for task in chosen if task.reads for topic in task.topics if topic.codec in codecs}
    for topic in sorted(read, key=lambda t: t.name):
        start = time.perf_counter()
        fill(bootstrap_servers, topic)
        say(f"filled {topic.count:,} records of {topic.title} in {time.perf_counter() - start:.1f} s")
    runner = Runner(bootstrap_servers, say)
    rows = []
    for task in chosen:
        clients = [client for client in task.clients if not options.client or client in options.client]
        rows += [runner.run(task, topic, clients, rounds) for topic in task.topics if topic.codec in codecs]
    return rows


def main() -> None:
    """Run the benchmarks; the exit status is 1 if a client could not do its task."""
    options = arguments()
    rounds = options.rounds or (1 if options.quick else 3)
    table = tasks.quick() if options.quick else tasks.full()
    chosen = [task for task in table if not options.task or task.name in options.task]
    decoder = decoder_figures()
    say(decoder)
    if options.bootstrap_servers:
        rows = run(chosen, options, options.bootstrap_servers, rounds)
    else:
        with ApacheKafka(heap="1g", full_jit=True, properties=BROKER_SETTINGS) as kafka:
            rows = run(chosen, options, kafka.bootstrap_servers, rounds)
    command = " ".join(["python -m bench", *sys.argv[1:]])
    report = markdown(rows, decoder, Circumstances(KAFKA_VERSION, rounds, command))
    target = RESULTS / ("quick.md" if options.quick else "bench.md")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(report)
    say(f"\n{report}\nwritten to {target.relative_to(ROOT)}")
    if any(row.failures for row in rows):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
