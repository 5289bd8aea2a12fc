"""Sends requests to a group's coordinator on the loop, and completes their futures in the client's `poll`."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, NamedTuple

from kafka.errors import KafkaError
from kafka.legacy.client_async.kafka_client import KafkaClient
from kafka.legacy.kafka_future import Future

_CHANNEL = "coordinator"


class _Coordinator(NamedTuple):
    """The fields that `ClusterMetadata.add_coordinator` reads."""

    coordinator_id: int
    host: str
    port: int
    error_code: int = 0


class CoordinatorLink:
    """The coordinator of one group, as the program knows it.

    Arguments:
        client: the program's client; futures are completed while it polls.
        group_id: the group.

    Attributes:
        node_id: the coordinator's broker id; None if the coordinator has to be looked up.
    """

    def __init__(self, client: KafkaClient, group_id: str) -> None:
        self._client = client
        self._group_id = group_id
        self.cluster = client._core
        self.loop_thread = client._loop_thread
        self.node_id: int | None = None
        self._pending: set[Future] = set()
        self.loop_thread.on_death(self, CoordinatorLink._fail_pending)

    @property
    def request_timeout_ms(self) -> float:
        """Maximum time for a request."""
        return float(self._client.config["request_timeout_ms"])

    def is_connected(self) -> bool:
        """Return whether the coordinator is known and connected."""
        node_id = self.node_id
        if node_id is None:
            return False

        async def look() -> bool:
            return self.cluster.ready_connection(node_id, _CHANNEL) is not None

        try:
            return self.loop_thread.run(look())
        except KafkaError:
            return False

    def forget(self) -> None:
        """Forget the coordinator, so that it is looked up again."""
        self.node_id = None
        with contextlib.suppress(KafkaError):
            self.loop_thread.call(self.cluster.forget_coordinator, "group", self._group_id)

    def find(self, timeout_ms: float | None) -> Future:
        """Look up the coordinator and connect to it; the future's result is its node id."""

        async def look_up() -> int:
            node_id = await self.cluster.coordinator("group", self._group_id, timeout_ms)
            await self.cluster.connection(node_id, _CHANNEL)
            return node_id

        return self.ask(look_up).add_callback(self._found)

    def _found(self, node_id: int) -> None:
        self.node_id = node_id
        broker = self._client.cluster.broker_metadata(node_id)
        if broker is not None:
            answer = _Coordinator(node_id, broker.host, broker.port)
            self._client.cluster.add_coordinator(answer, "group", self._group_id)

    def send(self, request: Any, timeout_ms: float) -> Future:
        """Send a message to the coordinator."""
        return self.ask(lambda: self.cluster.send_coordinator("group", self._group_id, request, timeout_ms=timeout_ms))

    def ask(self, work: Callable[[], Awaitable[Any]]) -> Future:
        """Run a coroutine on the loop; the future is completed while the client polls."""
        future = Future()

        async def run() -> None:
            try:
                result = await work()
            except Exception as error:
                completion = partial(self._complete, future, None, error)
            else:
                completion = partial(self._complete, future, result, None)
            self._client._completions.put(completion)

        self._pending.add(future)
        try:
            self.loop_thread.spawn(run())
        except KafkaError as error:
            self._complete(future, None, error)
        return future

    def _complete(self, future: Future, result: Any, error: BaseException | None) -> None:
        self._pending.discard(future)
        if future.is_done:
            return
        if error is None:
            future.success(result)
        else:
            future.failure(error)

    def _fail_pending(self, error: BaseException) -> None:
        for future in list(self._pending):
            self._client._completions.put(partial(self._complete, future, None, error))
