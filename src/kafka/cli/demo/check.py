"""Computes the expected results in pandas, reads the pipeline's results back, and compares them."""

import json
import pathlib
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from kafka.cli.demo.flights import Flights
from kafka.cli.demo.ingest import RESULT_TOPIC
from kafka.consumer import KafkaConsumer
from kafka.errors import KafkaError
from kafka.structs import TopicPartition

COLUMNS = [
    "hour",
    "origin",
    "airport",
    "flights",
    "cancelled",
    "dep_delay",
    "arr_delay",
    "worst_dep_delay",
    "worst_airline",
    "worst_destination",
]


class DifferentResult(KafkaError):
    """The stream's result differs from the same computation in pandas."""


def from_topic(
    bootstrap_servers: str, starting: dict[int, int], ending: dict[int, int], isolation_level: str = "read_committed"
) -> pd.DataFrame:
    """Read the results back with `KafkaConsumer`, between the given offsets.

    Arguments:
        isolation_level: "read_uncommitted" also returns rows of aborted transactions.
    """
    with KafkaConsumer(
        bootstrap_servers=bootstrap_servers, value_deserializer=json.loads, isolation_level=isolation_level
    ) as consumer:
        partitions = [TopicPartition(RESULT_TOPIC, partition) for partition in sorted(ending)]
        consumer.assign(partitions)
        for tp in partitions:
            consumer.seek(tp, starting.get(tp.partition, 0))
        rows: list[dict[str, Any]] = []
        while any(consumer.position(tp) < ending[tp.partition] for tp in partitions):
            for records in consumer.poll(timeout_ms=10_000, max_records=10_000).values():
                rows += [record.value for record in records if record.offset < ending[record.partition]]
    return _table(rows)


def from_parquet(folder: pathlib.Path) -> pd.DataFrame:
    """Read the results back from the Parquet files that Spark has committed; delete all other files.

    A killed driver leaves files from its last micro-batch, which readers that ignore Spark's list of committed files
    would include.
    """
    listed: set[str] = set()
    for part in (folder / "_spark_metadata").glob("[0-9]*"):
        for line in part.read_text(encoding="utf-8").splitlines()[1:]:  # the first line is the version
            listed.add(json.loads(line)["path"].rpartition("/")[2])
    for path in folder.glob("*.parquet"):
        if path.name not in listed:
            path.unlink()
            path.with_name(f".{path.name}.crc").unlink(missing_ok=True)
    return _table(pd.read_parquet(folder).to_dict("records"))


def _table(rows: Iterable[Mapping[Any, Any]]) -> pd.DataFrame:
    flat = []
    for row in rows:
        worst = row.get("worst") or {}
        flat.append({**row, **{f"worst_{name}": worst.get(name) for name in ("dep_delay", "airline", "destination")}})
    table = pd.DataFrame(flat, columns=COLUMNS)
    table["hour"] = pd.to_datetime(table["hour"], utc=True)
    return table


def compare(what: str, found: pd.DataFrame, expected: pd.DataFrame) -> None:
    """Raise `DifferentResult` unless both tables contain the same rows; averages may differ by rounding."""
    if len(found) != len(expected):
        raise DifferentResult(f"{what} has {len(found):,} rows, pandas computes {len(expected):,}")
    if found["flights"].sum() != expected["flights"].sum():
        raise DifferentResult(f"{what} counts {found['flights'].sum():,} flights, not {expected['flights'].sum():,}")
    try:
        pd.testing.assert_frame_equal(_sorted(found), _sorted(expected), check_dtype=False, rtol=1e-9)
    except AssertionError as error:
        raise DifferentResult(f"{what} differs from what pandas computes: {error}") from error


def _sorted(table: pd.DataFrame) -> pd.DataFrame:
    table = table[COLUMNS].sort_values(["hour", "origin"], ignore_index=True)
    table["hour"] = table["hour"].dt.as_unit("us")
    text = ["worst_airline", "worst_destination", "airport", "origin"]
    numbers = ["flights", "cancelled", "dep_delay", "arr_delay", "worst_dep_delay"]
    table[text] = table[text].astype(object).where(table[text].notna(), None)
    table[numbers] = table[numbers].astype(float)
    return table


def expected_delays(data: Flights) -> pd.DataFrame:
    """Return the delays by origin and hour, with the columns and order of `kafka.cli.demo.check.COLUMNS`."""
    flights = data.flights.merge(data.airlines.rename(columns={"name": "airline"}), on="carrier", how="left")
    names = data.airports.set_index("faa")["name"]
    flights["destination"] = flights["dest"].map(names).fillna(flights["dest"])
    flights["airport"] = flights["origin"].map(names)
    flights["hour"] = flights["departure"].dt.floor("h")
    groups = flights.groupby(["hour", "origin", "airport"], sort=True)
    table = groups.agg(flights=("flight", "size"), dep_delay=("dep_delay", "mean"), arr_delay=("arr_delay", "mean"))
    table["cancelled"] = (
        flights["dep_delay"].isna().groupby([flights["hour"], flights["origin"], flights["airport"]]).sum()
    )
    flown = flights.dropna(subset=["dep_delay"]).sort_values(["dep_delay", "airline", "destination"])
    worst = flown.groupby(["hour", "origin", "airport"])[["dep_delay", "airline", "destination"]].last()
    return table.join(worst.add_prefix("worst_")).reset_index()
