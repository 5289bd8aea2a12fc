"""What all requests share: one admin client, one observer, the searches, the schema registry, Spark's file."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from kafka.admin import AsyncKafkaAdminClient
from kafka.ui.guard import Forms
from kafka.ui.looking import look
from kafka.ui.observer import Observer
from kafka.ui.registry import PageRegistry
from kafka.ui.search import Searches
from kafka.ui.settings import UiSettings
from kafka.ui.spark_log import Batch, SparkLog


class Ui:
    """A page that is being served."""

    def __init__(self, settings: UiSettings, admin: AsyncKafkaAdminClient) -> None:
        self.settings = settings
        self.admin = admin
        self.observer = Observer(lambda time: look(admin, time), settings.interval_s)
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
            await ui.observer.close()
            if ui.registry is not None:
                ui.registry.close()
