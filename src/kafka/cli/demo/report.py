"""What the demo says at its beginning and at its end, and the page with the report of the pipeline."""

import dataclasses
import pathlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from kafka.cli.command_output import aligned
from kafka.cli.demo.check import Audited, dead_letter_topic
from kafka.cli.demo.declaration import ON_TIME
from kafka.cli.demo.names import CHECKPOINT, FILE, Names
from kafka.cli.demo.planted import KINDS, Planted
from kafka.pipelines.dead_letters import RuleCount, Selection
from kafka.pipelines.events import read_events
from kafka.pipelines.report import html
from kafka.pipelines.run_history import History, RunHistory, history
from kafka.pipelines.yaml_file import load

Say = Callable[[str], None]

INTRODUCTION = """\
This demo shows a pipeline with bad data, a crash and a wrong rule, and that it loses and duplicates nothing:
  1. flights of a year go to a topic as Avro, with broken and implausible ones among them
  2. a pipeline in YAML checks them with rules, and writes them exactly once; bad records become dead letters
  3. its Spark driver is killed midway, and started again
  4. a wrong rule is corrected, and the dead letters that it caused are replayed
  5. an audit accounts for each record, and pandas computes the same result
"""
_MOST_LETTERS = 200
"""Number of dead letters from which the page chooses those that it shows."""


@dataclasses.dataclass(frozen=True)
class Figures:
    """The input and the results of a run.

    Arguments:
        flights: number of real flights.
        planted: the planted ones.
        send_s: duration of sending in seconds.
        dead: the dead letters by rule, after the replay.
        late: number of flights that fail the rule `ON_TIME`, as pandas computes it.
        cancelled: number of flights that the wrong rule rejected.
        given_up: number of rows in the topic that belong to aborted transactions.
        audited: the sums of the audit.
        total_s: total duration in seconds.
    """

    flights: int
    planted: Planted
    send_s: float
    dead: Mapping[str, RuleCount]
    late: int
    cancelled: int
    given_up: int
    audited: Audited
    total_s: float


def read_history(names: Names) -> History:
    """Return the history of the pipeline, from its events."""
    return history(read_events(names.output / CHECKPOINT / "events"))


def print_planted(say: Say, planted: Planted) -> None:
    """Print how many flights of each kind were planted, and what should become of them."""
    rows = [
        [each.name, f"{planted.each:,}", each.rule, "dropped" if each.is_dropped else "dead letter"] for each in KINDS
    ]
    print_table(say, "Planted flights", ["what is wrong", "flights", "rule", "outcome"], rows, {0, 2, 3})


def print_dead_letters(say: Say, dead: Mapping[str, RuleCount], planted: Planted) -> None:
    """Print the dead letters by rule, next to the number of planted flights."""
    expected: dict[str, int] = {}
    for each in KINDS:
        expected[each.rule] = expected.get(each.rule, 0) + planted.each
    rows = [[rule, f"{count.letters:,}", f"{expected[rule]:,}"] for rule, count in dead.items()]
    print_table(say, "Dead letters", ["rule", "dead letters", "planted"], rows, {0})


def print_audit(say: Say, result: Mapping[str, Any]) -> None:
    """Print what ``kafka pipeline audit --json`` printed, as a table."""
    names = ["partition", "in", "out", "dropped", "dead", "faults"]
    rows = [[f"{each[name]:,}" for name in names] for each in result["partitions"]]
    print_table(say, "Audit: records by partition of the source", names, rows, set())


def _rate(what: str, count: int, seconds: float) -> list[str]:
    return [what, f"{count:,}", f"{seconds:.1f}", f"{count / seconds:,.0f}" if seconds else "-"]


def _run_rate(what: str, run: RunHistory) -> list[str]:
    return _rate(what, run.rows, sum(each.busy for each in run.batches))


def print_report(say: Say, figures: Figures, past: History) -> None:
    """Print the rates, what became of the flights, and what the demo has shown."""
    stream = past.runs_of("stream")
    titles = ["the pipeline, until the kill", "the pipeline, after the restart"][-len(stream) :] if stream else []
    rows = [_rate("flights to the topic, as Avro", figures.planted.count, figures.send_s)]
    rows += [_run_rate(title, run) for title, run in zip(titles, stream, strict=False)]
    rows += [_run_rate("replay of dead letters", run) for run in past.runs_of("replay")]
    print_table(say, "Rates while data was flowing", ["step", "rows", "seconds", "rows per second"], rows, {0})
    say("  The seconds are those of the micro-batches, without the start of Spark.\n")

    say("What this has shown:")
    for line in _shown(figures):
        say(f"  - {line}")
    say(f"All of this took {figures.total_s:.0f} s.")


def _shown(figures: Figures) -> Iterator[str]:
    audited, planted = figures.audited, figures.planted
    again = sum(each.superseded for each in figures.dead.values())
    balance = f"{audited.out:,} results + {audited.dead:,} dead letters + {audited.dropped:,} dropped"
    yield f"The audit balances: {audited.records:,} records = {balance}."
    yield f"Each of the {figures.flights:,} real flights is in the results exactly once, with the values of pandas."
    if figures.given_up:
        yield f"Consumers that read committed records do not see {figures.given_up:,} rows of aborted transactions."
    yield f"Each of the {len(KINDS) * planted.each:,} planted flights was caught by its rule."
    yield f"The dead letters of the {len(planted.broken):,} undecodable flights contain the original bytes."
    yield (
        f"The replay wrote {figures.cancelled:,} cancelled flights to the results, and rejected the {again:,} absurd "
        "delays again."
    )
    yield f"The rule {ON_TIME!r} counted {figures.late:,} real flights, and kept them."


def write_page(names: Names, page: pathlib.Path) -> None:
    """Write the report of the pipeline as an HTML page."""
    letters = list(dead_letter_topic(names).letters(Selection(names.pipeline), limit=_MOST_LETTERS))
    events = read_events(names.output / CHECKPOINT / "events")
    page.write_text(html(events, letters, load(names.file), FILE), encoding="utf-8")


def print_slowest(say: Say, results: pd.DataFrame, airports: pd.DataFrame) -> None:
    """Print the five destinations with the longest mean delay, according to the results read back from the topic."""
    by_destination = results.groupby("dest").agg(flights=("id", "size"), delay=("dep_delay", "mean"))
    worst = by_destination[by_destination["flights"] >= 100].nlargest(5, "delay")
    known = dict(airports.itertuples(index=False, name=None))
    rows = [
        [known.get(each.Index, each.Index), f"{each.flights:,}", f"{each.delay:.0f} min"] for each in worst.itertuples()
    ]
    if rows:
        print_table(say, "The longest mean delays", ["to", "flights", "mean delay"], rows, {0})


def print_table(say: Say, title: str, headings: Sequence[str], rows: Sequence[Sequence[str]], left: set[int]) -> None:
    """Print a table with aligned columns.

    Arguments:
        say: called with each line.
        title: the title.
        headings: the titles of the columns.
        rows: the cells.
        left: indexes of left-aligned columns; the others are numbers, which are right-aligned.
    """
    say(f"\n{title}")
    for line in aligned([headings, *rows], [at not in left for at in range(len(headings))]):
        say(f"  {line}")
    say("")
