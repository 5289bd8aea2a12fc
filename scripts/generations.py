"""Run the programs of `examples/generations` under the kafka-python of their time and under this package.

    python scripts/generations.py                       originals on the brokers of their time, ours on today's
    python scripts/generations.py --generations 0.9 --programs keyed_producer
    python scripts/generations.py --only originals --record     write what the originals print (`.expected`)
    python scripts/generations.py --only ours --record          write what ours print where a program says why (`.ours`)
    python scripts/generations.py --table               write examples/generations/README.md alone

The output of each is compared with the files next to it. A generation whose Python, release or broker is not available
is skipped by name. The exit status is 1 if a program failed or its output differs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
sys.path.insert(0, str(ROOT))
# ruff: noqa: E402 -- the harness is found only now

from scripts.pythons import find_interpreter

from harness.apache import ApacheKafka
from harness.fetch import KAFKA_VERSION, FetchError
from harness.generations import FOLDER, GENERATIONS, Generation, Program, ProgramError, ServingBroker, programs, run_on
from harness.java import JavaError
from harness.originals import OriginalsError, original_folder
from harness.serving import TodaysBroker
from harness.zookeeper_kafka import ZooKeeperKafka

TABLE = FOLDER / "README.md"
EMBEDDED = "the embedded broker"


@dataclass
class Runner:
    """What runs programs, and what came of it.

    Attributes:
        record: whether the files are written instead of compared.
        jobs: how many programs run at once.
        counts: how many agreed, differed, failed.
        skipped: what could not be run, with the reason.
    """

    record: bool
    jobs: int
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("agree", "differ", "failed"), 0))
    skipped: list[str] = field(default_factory=list)

    def run(
        self,
        chosen: Sequence[Program],
        broker: ServingBroker,
        what: str,
        python: str,
        variables: Mapping[str, str],
        *,
        ours: bool,
    ) -> None:
        """Run programs on a broker, and print a line or more about each."""

        def run_one(program: Program) -> tuple[str, str]:
            try:
                printed = run_on(program, python, broker, variables)
            except ProgramError as error:
                return "failed", str(error)
            if self.record:
                program.record(printed, ours=ours)
            difference = program.comparison(printed, ours=ours)
            return ("differ", difference) if difference else ("agree", "")

        with ThreadPoolExecutor(self.jobs) as pool:
            for program, (outcome, text) in zip(chosen, pool.map(run_one, chosen), strict=True):
                self.counts[outcome] += 1
                print(f"{program.name}, {what}: {outcome}{':' if text else ''}", flush=True)
                if text:
                    print(text, flush=True)

    def skip(self, what: str, reason: str) -> None:
        """Say what cannot be run, and why."""
        self.skipped.append(what)
        print(f"{what}: skipped: {reason}", flush=True)


def main() -> int:
    """Run the selected programs; return 1 if a program failed or its output differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    names = [generation.name for generation in GENERATIONS]
    parser.add_argument("--generations", nargs="+", default=[], choices=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--programs", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--only", choices=("originals", "ours"))
    parser.add_argument("--record", action="store_true", help="write the files that are else compared")
    parser.add_argument("--table", action="store_true", help="write the table and run nothing")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    chosen = programs(arguments.generations, arguments.programs)
    if not arguments.table and not chosen:
        parser.error("no program has that name")
    runner = Runner(arguments.record, arguments.jobs)
    if not arguments.table:
        originals = chosen if arguments.only != "ours" else []
        ours = chosen if arguments.only != "originals" else []
        versions = sorted({version for program in originals for version in program.brokers}, key=_numbers)
        if ours and KAFKA_VERSION not in versions:
            versions.append(KAFKA_VERSION)
        for version in versions:
            run_on_kafka(runner, version, [each for each in originals if version in each.brokers], ours)
        run_on_embedded(runner, [each for each in ours if not each.apache_only])
        print(", ".join(f"{count} {outcome}" for outcome, count in runner.counts.items()))
        if runner.skipped:
            print("skipped: " + ", ".join(runner.skipped))
    if arguments.table or arguments.record:
        TABLE.write_text(table(programs()), encoding="utf-8")
    return int(any(runner.counts[outcome] for outcome in ("differ", "failed")))


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def run_on_kafka(runner: Runner, version: str, originals: Sequence[Program], ours: Sequence[Program]) -> None:
    """Start one release of Apache Kafka and run on it the originals, and ours if it is today's."""
    with ExitStack() as stack:
        broker: ServingBroker
        try:
            if version == KAFKA_VERSION:
                broker = TodaysBroker(stack.enter_context(ApacheKafka()).bootstrap_servers)
            else:
                broker = stack.enter_context(ZooKeeperKafka(version))
        except (FetchError, JavaError) as error:
            runner.skip(f"Kafka {version}", str(error))
            return
        for generation in GENERATIONS:
            its_own = [each for each in originals if each.generation is generation]
            if its_own:
                run_originals(runner, generation, its_own, broker, version)
        if version == KAFKA_VERSION:
            ours = [each for each in ours if not each.embedded_only]
            runner.run(ours, broker, f"this package on Kafka {version}", sys.executable, {}, ours=True)


def run_originals(
    runner: Runner, generation: Generation, chosen: Sequence[Program], broker: ServingBroker, version: str
) -> None:
    """Run programs of a generation under its kafka-python."""
    what = f"kafka-python {generation.release}"
    python = find_interpreter(generation.python, needs=("pip",))
    if python is None:
        runner.skip(what, f"neither pyenv nor the PATH has python{generation.python}")
        return
    try:
        folder = original_folder(generation, python)
    except OriginalsError as error:
        runner.skip(what, str(error))
        return
    runner.run(chosen, broker, f"{what} on Kafka {version}", python, {"PYTHONPATH": str(folder)}, ours=False)


def run_on_embedded(runner: Runner, chosen: Sequence[Program]) -> None:
    """Run ours on the embedded broker."""
    if not chosen:
        return
    from kafka.broker import EmbeddedBroker

    with EmbeddedBroker(group_min_session_timeout_ms=1000, group_initial_rebalance_delay_ms=0) as embedded:
        broker = TodaysBroker(embedded.bootstrap_servers)
        runner.run(chosen, broker, f"this package on {EMBEDDED}", sys.executable, {}, ours=True)


def table(chosen: Sequence[Program]) -> str:
    """The text of examples/generations/README.md."""
    lines = [
        "# Programs of six generations",
        "",
        "Each program in this folder ran, unchanged, under the kafka-python of its time on a broker of its time, and",
        "runs under this package. `NAME.expected` is the output of the original. `make test` compares this package's",
        "output with it, on Apache Kafka and on the embedded broker; `make test-generations` runs the originals again.",
        "`NAME.ours` is this package's output where it still differs; docs/COMPATIBILITY.md explains the differences.",
        "",
        f"`scripts/generations.py` generates this file. {len(chosen)} programs,",
        f"{sum(not each.differs for each in chosen)} of them with identical output.",
    ]
    for generation in GENERATIONS:
        its_own = [each for each in chosen if each.generation is generation]
        on = " and ".join(generation.brokers)
        lines += ["", f"## kafka-python {generation.release}, Python {generation.python}, Kafka {on}", ""]
        lines += [f"| program | subject | on {KAFKA_VERSION} | on {EMBEDDED} |", "|---|---|---|---|"]
        for each in its_own:
            printed = f"differs: {each.differs}" if each.differs else "the same"
            outcome = f"not run: {each.embedded_only}" if each.embedded_only else printed
            embedded = f"not run: {each.apache_only}" if each.apache_only else printed.partition(":")[0]
            only = f" (original on {', '.join(each.brokers)})" if each.brokers != generation.brokers else ""
            lines.append(f"| [{each.path.stem}]({each.name}.py) | {each.kind}{only} | {outcome} | {embedded} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
