"""What a page is run with."""

import dataclasses
import pathlib
from collections.abc import Callable, Mapping
from typing import Any


@dataclasses.dataclass(frozen=True, slots=True)
class UiSettings:
    """How a page is run.

    Arguments:
        admin: keyword arguments of `AsyncKafkaAdminClient`.
        consumer: keyword arguments of the consumers that read messages.
        parse_position: makes a place in a log of a text: an offset, "earliest", "latest", a `datetime`, or a
            `timedelta` before now. Raises `ValueError`.
        registry: options of `SchemaRegistryClient`; None: no schema registry is asked.
        spark: a file that `kafka.spark.watch` writes as ``json_lines``.
        allow_writes: whether topics may be made, and groups moved.
        names: host names by which browsers may ask for the page, beside addresses and "localhost".
        interval_s: between two looks at the cluster, while somebody looks at the page.
        search_s: how long a search may take.
        search_records: how many records a search may look at.
        searches: how many searches may run at once.
    """

    admin: Mapping[str, Any] = dataclasses.field(repr=False)
    consumer: Mapping[str, Any] = dataclasses.field(repr=False)
    parse_position: Callable[[str], Any]
    registry: Mapping[str, Any] | None = dataclasses.field(default=None, repr=False)
    spark: pathlib.Path | None = None
    allow_writes: bool = False
    names: tuple[str, ...] = ()
    interval_s: float = 5.0
    search_s: float = 10.0
    search_records: int = 200_000
    searches: int = 4
