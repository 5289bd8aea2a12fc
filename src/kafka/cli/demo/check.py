"""Compares what the pipeline wrote with what it should have written, as pandas and the list of planted flights say."""

import collections
import dataclasses
from collections.abc import Mapping
from typing import Any

import pandas as pd

import kafka
from kafka.cli.demo.declaration import PLAUSIBLE
from kafka.cli.demo.flights import Flights
from kafka.cli.demo.names import Names
from kafka.cli.demo.planted import ABSURD, KINDS, Planted
from kafka.errors import KafkaError
from kafka.pipelines.dead_letters import DeadLetterTopic, RuleCount, Selection
from kafka.pipelines.source_declaration import DECODES
from kafka.schema_registry import SchemaRegistryClient

COLUMNS = ["id", "departure", "carrier", "flight", "origin", "dest", "dep_delay", "made_up"]


class DifferentResult(KafkaError):
    """The pipeline's result differs from what it should be."""


def read_results(names: Names, isolation_level: str = "read_committed") -> pd.DataFrame:
    """Read the results back.

    Arguments:
        names: the names of the pipeline.
        isolation_level: "read_uncommitted" also returns rows of aborted transactions.
    """
    with SchemaRegistryClient({"url": names.registry_url}) as registry:
        table = kafka.read(
            names.sink,
            bootstrap_servers=names.bootstrap_servers,
            isolation_level=isolation_level,
            value=registry.reader(f"{names.sink}-value"),
        ).to_arrow()
    fields = table.select(["value"]).flatten()
    found: pd.DataFrame = fields.rename_columns(
        [each.removeprefix("value.") for each in fields.column_names]
    ).to_pandas()
    return found[COLUMNS]


def expected_results(data: Flights) -> pd.DataFrame:
    """Return the rows that the pipeline should write once its rule has been corrected: one for each real flight."""
    flights = data.flights.reset_index(drop=True)
    return flights.assign(id=flights.index, made_up=flights["dep_delay"] - flights["arr_delay"])[COLUMNS]


def compare(found: pd.DataFrame, expected: pd.DataFrame) -> None:
    """Raise `DifferentResult` unless the tables contain the same rows, each once, in any order."""
    counts = found["id"].value_counts()
    for what, ids in (
        ("rows more than once", counts[counts > 1].index),
        ("rows that should not be there", counts.index.difference(pd.Index(expected["id"]))),
    ):
        if len(ids):
            raise DifferentResult(f"the topic has {len(ids):,} {what}: {_some(ids)}")
    if len(missing := expected["id"][~expected["id"].isin(counts.index)]):
        raise DifferentResult(f"the topic lacks {len(missing):,} of {len(expected):,} rows: {_some(missing)}")
    try:
        pd.testing.assert_frame_equal(_sorted(found), _sorted(expected), check_dtype=False)
    except AssertionError as error:
        raise DifferentResult(f"the topic differs from what pandas computes: {error}") from error


def _some(ids: "pd.Index[int] | pd.Series[int]") -> str:
    return "flights " + ", ".join(str(each) for each in list(ids)[:5]) + (", ..." if len(ids) > 5 else "")


def _sorted(table: pd.DataFrame) -> pd.DataFrame:
    table = table[COLUMNS].sort_values("id", ignore_index=True)
    table["departure"] = table["departure"].dt.tz_convert("UTC").dt.as_unit("us")
    return table


def dead_letter_topic(names: Names) -> DeadLetterTopic:
    """Return the reader of the dead letters."""
    return DeadLetterTopic(names.dead_letters, {"bootstrap_servers": names.bootstrap_servers})


def expected_dead_letters(data: Flights, planted: Planted, *, is_replayed: bool) -> dict[str, RuleCount]:
    """Return how many dead letters there should be for each rule.

    Arguments:
        data: the real flights.
        planted: the planted ones.
        is_replayed: whether those of the wrong rule have been replayed.
    """
    counts: collections.Counter[str] = collections.Counter()
    for kind in KINDS:
        if not kind.is_dropped:
            counts[kind.rule] += planted.each
    counts[PLAUSIBLE] += cancelled(data) + planted.each * is_replayed
    again = {ABSURD.rule: planted.each} if is_replayed else {}
    return {rule: RuleCount(count, again.get(rule, 0), count - again.get(rule, 0)) for rule, count in counts.items()}


def cancelled(data: Flights) -> int:
    """Return the number of cancelled flights, which the wrong rule rejects."""
    return int(data.flights["dep_delay"].isna().sum())


def late_arrivals(data: Flights) -> int:
    """Return the number of real flights that fail the rule that only counts."""
    return int((data.flights["arr_delay"] > 120).sum())


def compare_dead_letters(names: Names, data: Flights, planted: Planted, *, is_replayed: bool) -> dict[str, RuleCount]:
    """Return the number of dead letters by rule. Raises `DifferentResult` unless they are the expected ones.

    The values of those that cannot be decoded are compared byte by byte.
    """
    topic = dead_letter_topic(names)
    found = dict(topic.count_by_rule(Selection(names.pipeline)).rules)
    expected = expected_dead_letters(data, planted, is_replayed=is_replayed)
    if found != expected:
        raise DifferentResult(f"the dead letters by rule are {_shown(found)}, not {_shown(expected)}")
    values = collections.Counter(
        each.value for each in topic.letters(Selection(names.pipeline, DECODES), newest_first=False)
    )
    if values != collections.Counter(value for _, value in planted.broken):
        raise DifferentResult("the bytes of the undecodable flights in the dead letters are not those that were sent")
    return found


def _shown(counts: dict[str, RuleCount]) -> str:
    return ", ".join(f"{rule}: {each.letters} ({each.superseded} superseded)" for rule, each in sorted(counts.items()))


@dataclasses.dataclass(frozen=True)
class Audited:
    """The sums of an audit: what became of the records of the source."""

    records: int
    out: int
    dropped: int
    dead: int


def check_audit(result: Mapping[str, Any], data: Flights, planted: Planted) -> Audited:
    """Return the sums of an audit.

    Arguments:
        result: what ``kafka pipeline audit --json`` printed.
        data: the real flights.
        planted: the planted ones.

    Raises `DifferentResult` if the audit does not balance, or balances something else than what was sent.
    """
    if not result["balances"]:
        raise DifferentResult(f"the audit does not balance: {result['faults']}")
    rows = result["partitions"]
    found = Audited(*(sum(row[name] for row in rows) for name in ("in", "out", "dropped", "dead")))
    dead = sum(planted.each for kind in KINDS if not kind.is_dropped)
    expected = Audited(planted.count, len(data.flights), planted.each, dead)
    if found != expected:
        raise DifferentResult(f"the audit counts {found}, not {expected}")
    return found
