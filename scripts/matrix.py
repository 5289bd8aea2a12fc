"""Run the clients' integration tests on releases of Apache Kafka, one after the other.

    python scripts/matrix.py                               all releases
    python scripts/matrix.py --releases 1.1.1,2.8.2        these
    python scripts/matrix.py --releases 1.1.1 --select "acks or headers"     a part, by pytest's -k
    python scripts/matrix.py --record                      and write the tables into docs/COMPATIBILITY.md

Each release has a line with the numbers of tests that passed, failed and were skipped, and reasons for the latter two.
The exit status is 1 if a test failed, or a release is not available.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests" / "integration"
GUIDE = ROOT / "docs" / "COMPATIBILITY.md"
FEATURES = "\n| Kafka | features whose tests were skipped on other releases |\n|---|---|\n"
ROW = re.compile(r"^\| ((?:before )?[\d.]+) \| (.*) \|$", re.MULTILINE)
NEEDS = re.compile(r"needs Kafka (?P<needs>(?:before )?[\d.]+): (?P<name>.*)")
BEGIN, END = "<!-- scripts/matrix.py writes from here -->\n", "<!-- to here -->\n"

CLIENTS = (
    "admin/test_admin.py",
    "admin/test_admin_cluster.py",
    "admin/test_admin_groups.py",
    "consumer/test_async_consumer.py",
    "cluster/test_cluster.py",
    "consumer/test_consumer.py",
    "groups/test_group_listeners.py",
    "groups/test_groups.py",
    "consumer/test_hand_out.py",
    "consumer/test_lagging_replicas.py",
    "consumer/test_log_ends.py",
    "cluster/test_metrics.py",
    "producer/test_producer.py",
    "producer/test_producer_callbacks.py",
    "producer/test_producer_faces.py",
    "producer/test_producer_lifetime.py",
    "groups/test_sticky_groups.py",
    "cluster/test_three_brokers.py",
    "transactions/test_transactions.py",
)
"""The tests of today's clients."""
OLD_CLIENTS = (
    "legacy/test_early_clients.py",
    "legacy/test_old_connections.py",
    "legacy/test_old_coordinators.py",
    "legacy/test_simple_clients.py",
    "legacy/test_simple_consumers.py",
)
"""The tests of what only kafka-python's old generations had."""
BASICS = ("legacy/test_simple_clients.py",)
"""What runs on brokers that have no groups for clients."""

RELEASES: dict[str, Sequence[str]] = {
    "0.8.2.2": BASICS,
    "0.9.0.1": OLD_CLIENTS,
    "0.10.2.2": CLIENTS + OLD_CLIENTS,
    "0.11.0.3": CLIENTS + OLD_CLIENTS,
    "1.1.1": CLIENTS + OLD_CLIENTS,
    "2.8.2": CLIENTS + OLD_CLIENTS,
    "3.9.2": CLIENTS + OLD_CLIENTS,
    "4.3.1": CLIENTS + OLD_CLIENTS,
    "4.4.0": CLIENTS + OLD_CLIENTS,
}
"""Which tests run on which release."""


@dataclass
class Result:
    """What came of one release's tests."""

    release: str
    counts: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    """Reasons, with how many tests each of them concerns."""
    lines: list[str] = field(default_factory=list)
    """The names of what was skipped or failed, with the reason."""
    seconds: float = 0.0

    @property
    def row(self) -> str:
        """Its row in the first table."""
        numbers = " | ".join(str(self.counts[outcome]) for outcome in ("passed", "failed", "skipped"))
        return f"| {self.release} | {numbers} |"


def read_report(release: str, report: Path) -> Result:
    """Read the outcome of each test from pytest's report; a test whose fixtures failed has failed."""
    result = Result(release)
    for case in ElementTree.parse(report).iter("testcase"):
        name = f"{case.get('classname', '').rpartition('.')[2]}::{case.get('name')}"
        problem = next((each for each in case if each.tag in ("failure", "error")), None)
        skip = case.find("skipped")
        if problem is not None:
            outcome, why = "failed", (problem.get("message") or "").partition("\n")[0]
        elif skip is not None:
            outcome, why = "skipped", skip.get("message") or ""
            result.skipped[why] += 1
        else:
            outcome, why = "passed", ""
        result.counts[outcome] += 1
        if why or outcome == "failed":
            result.lines.append(f"  {outcome}: {name}: {why}")
    return result


def run(release: str, select: str, workers: str, more: Sequence[str]) -> Result:
    """Run a release's tests, and print what does not pass."""
    files = [str(TESTS / name) for name in RELEASES[release]]
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="kafka-matrix-") as folder:
        report, log = Path(folder, "report.xml"), Path(folder, "log")
        command = [sys.executable, "-m", "pytest", *files, "-m", "apache", "--kafka-release", release]
        command += ["-q", "-n", workers, f"--junitxml={report}", "-p", "no:cacheprovider", *more]
        command += ["-k", select] if select else []
        with log.open("w", encoding="utf-8") as out:
            done = subprocess.run(command, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT, check=False)
        said = log.read_text(encoding="utf-8")
        if done.returncode not in (0, 1) or not report.exists():
            print(said)
            return Result(release, Counter(failed=1), lines=[f"  pytest ended with {done.returncode}"])
        result = read_report(release, report)
    if result.counts["failed"]:
        print(said)
    result.seconds = time.monotonic() - began
    return result


def write_table(results: Sequence[Result], guide: Path = GUIDE) -> None:
    """Put these results into the tables: rows in the place of the releases' older ones, and features that are new."""
    before, begin, rest = guide.read_text(encoding="utf-8").partition(BEGIN)
    old, end, after = rest.partition(END)
    if not (begin and end):
        raise SystemExit(f"{guide} has no place for the table: a line {BEGIN.strip()} and a line {END.strip()}")
    counts, _, features = old.partition(FEATURES)
    rows = {release: row for row, release in re.findall(r"^(\| ([\d.]+) \|.*)$", counts, flags=re.MULTILINE)}
    rows |= {result.release: result.row for result in results}
    head = "| Apache Kafka | passed | failed | skipped |\n|---|---:|---:|---:|\n"
    table = head + "".join(f"{rows[release]}\n" for release in RELEASES if release in rows)
    needed = {(needs, name) for needs, names in ROW.findall(features) for name in names.split("; ")}
    reasons = [reason.replace("; ", ", ") for result in results for reason in result.skipped]
    needed |= {(found["needs"], found["name"]) for found in map(NEEDS.match, reasons) if found}
    guide.write_text(before + begin + table + features_table(needed) + end + after, encoding="utf-8")


def features_table(needed: Collection[tuple[str, str]]) -> str:
    """The second table: pairs of the releases that have a feature, such as "2.4" or "before 2.8", and the feature."""

    def order(needs: str) -> list[int]:
        return [int(part) for part in re.findall(r"\d+", needs)]

    lines = [FEATURES]
    for needs in sorted({needs for needs, _ in needed}, key=order):
        lines.append(f"| {needs} | {'; '.join(sorted(name for each, name in needed if each == needs))} |\n")
    return "".join(lines) if needed else ""


def main() -> int:
    """Run what is asked for; gives 1 if a test failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--releases", default=",".join(RELEASES), metavar="RELEASE,...", help=", ".join(RELEASES))
    parser.add_argument("--select", default="", metavar="EXPRESSION", help="run the tests that pytest's -k selects")
    parser.add_argument("--workers", default="2", help="how many processes share the tests, each with its own broker")
    parser.add_argument("--record", action="store_true", help=f"write the table into {GUIDE.relative_to(ROOT)}")
    arguments, more = parser.parse_known_args()
    chosen = arguments.releases.split(",")
    unknown = [release for release in chosen if release not in RELEASES]
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; there are {', '.join(RELEASES)}")
    if arguments.record and (arguments.select or more):
        parser.error("--record is for whole releases")
    results = []
    for release in chosen:
        result = run(release, arguments.select, arguments.workers, more)
        results.append(result)
        told = ", ".join(f"{result.counts[outcome]} {outcome}" for outcome in ("passed", "failed", "skipped"))
        print(f"Kafka {release}: {told} in {result.seconds:.0f} s", *result.lines, sep="\n", flush=True)
    if arguments.record:
        write_table(results)
    return int(any(result.counts["failed"] for result in results))


if __name__ == "__main__":
    sys.exit(main())
