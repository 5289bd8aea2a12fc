"""What a producer knows of its cluster, under the inner name and with the inner method that kafka-python has for it."""

from __future__ import annotations

from functools import partial
from typing import Any

from kafka import _old_names
from kafka.errors import IllegalStateError, KafkaError
from kafka.net.loop import LoopThread
from kafka.producer.core import ProducerCore

_HOMES = {"Future": "kafka.legacy.future"}


class RefreshableMetadata:
    """The newest `ClusterMetadata` of a producer, as attributes; any thread may use it.

    Arguments:
        core: the producer's.
        thread: that of the producer's loop.
    """

    def __init__(self, core: ProducerCore, thread: LoopThread) -> None:
        self._core, self._thread = core, thread

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # such as what copying asks for
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._core.cluster.metadata, name)

    def request_update(self) -> Any:
        """Have the metadata refreshed; gives the `kafka.future.Future` of the new ones. Does not wait."""
        future = _old_names.of_a_package(__name__, "Future", _HOMES)()
        core = self._core
        if core.is_closed:
            return future.failure(IllegalStateError("the producer is closed"))

        async def refresh() -> None:
            try:
                found = await core.cluster.refresh_metadata()
            except KafkaError as error:
                core.callbacks.submit(partial(future.failure, error))
            else:
                core.callbacks.submit(partial(future.success, found))

        self._thread.spawn(refresh())
        return future
