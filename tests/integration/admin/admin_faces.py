"""Admin clients of both faces that a test calls alike: those of the asyncio one run until they are done."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from kafka.admin import AsyncKafkaAdminClient, KafkaAdminClient

FACES = ("sync", "async")


class Driven:
    """An `AsyncKafkaAdminClient` whose methods block, on a loop of its own."""

    def __init__(self, client: AsyncKafkaAdminClient, run: Callable[[Any], Any]) -> None:
        self._client, self._run = client, run

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._client, name)
        if not inspect.iscoroutinefunction(found):
            return found
        return lambda *args, **options: self._run(found(*args, **options))


@contextmanager
def opened(face: str, **configs: Any) -> Iterator[Any]:
    """An admin client of a face, `"sync"` or `"async"`."""
    if face == "sync":
        with KafkaAdminClient(**configs) as client:
            yield client
        return
    with asyncio.Runner() as runner:
        asynchronous = AsyncKafkaAdminClient(**configs)
        runner.run(asynchronous.start())
        try:
            yield Driven(asynchronous, runner.run)
        finally:
            runner.run(asynchronous.close())
