"""The settings of the page, and what all requests share: clients, poller, searches, schema registry, Spark's file."""

import asyncio
import contextlib
import dataclasses
import pathlib
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from kafka.admin import AsyncKafkaAdminClient
from kafka.ui.guard import Forms
from kafka.ui.page_registry import PageRegistry
from kafka.ui.poller import ClusterPoller, look
from kafka.ui.search import Searches
from kafka.ui.spark_log import Batch, SparkLog


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


class Ui:
    """A page that is being served."""

    def __init__(self, settings: UiSettings, admin: AsyncKafkaAdminClient) -> None:
        self.settings = settings
        self.admin = admin
        self.poller = ClusterPoller(lambda time: look(admin, time), settings.interval_s)
        self.searches = Searches(settings.consumer, settings.searches, settings.search_s, settings.search_records)
        self.spark = SparkLog(settings.spark) if settings.spark is not None else None
        self.registry = PageRegistry(settings.registry) if settings.registry is not None else None
        self.forms = Forms()
        self._reading = asyncio.Lock()

    async def read_spark(self) -> dict[str, list[Batch]]:
        """What Spark's file has got, by query. Raises `OSError`."""
        if self.spark is None:
            return {}
        async with self._reading:  # else every viewer kept a thread waiting
            return await asyncio.to_thread(self.spark.read)


@contextlib.asynccontextmanager
async def connected(settings: UiSettings) -> AsyncIterator[Ui]:
    """A page's clients, for as long as the block runs. Raises what `AsyncKafkaAdminClient.start` raises."""
    async with AsyncKafkaAdminClient(**settings.admin) as admin:
        ui = Ui(settings, admin)
        try:
            yield ui
        finally:
            await ui.poller.close()
            if ui.registry is not None:
                ui.registry.close()
