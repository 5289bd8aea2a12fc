"""The attribute `_client`, which programs written for kafka-python access inside an admin client or a consumer.

Such programs use it to read the cluster metadata (`admin._client.cluster.brokers()`), and to send requests from
`kafka.protocol`. The attribute's value is a `KafkaClient` from `kafka.client_async` that has its own connections and is
created on first access.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kafka import _old_names
from kafka.errors import IllegalStateError


class InnerName:
    """A descriptor whose value is computed on each read. Subclasses and instances may override it.

    Arguments:
        read: computes the value from the client.
    """

    def __init__(self, read: Callable[[Any], Any]) -> None:
        self._read = read

    def __get__(self, owner: Any, kind: type[Any] | None = None) -> Any:
        return self if owner is None else self._read(owner)


_HOMES = {"KafkaClient": "kafka.legacy.client_async.kafka_client"}


class HasPolledClient:
    """The base class of the synchronous clients with the attribute `_client`."""

    _client = InnerName(lambda owner: owner._polled_client())
    _polled: Any = None

    def _options_given(self) -> Mapping[str, Any]:
        """Return the options with which this client was created."""
        raise NotImplementedError

    def _is_closed(self) -> bool:
        """Return whether this client is closed."""
        raise NotImplementedError

    def _polled_client(self) -> Any:
        """Return the `KafkaClient`, which knows the brokers and all topics, and refreshes its metadata regularly."""
        polled = self._polled
        if polled is None:
            self._check_not_closed()
            made = _old_names.of_a_package(__name__, "KafkaClient", _HOMES)(**self._options_given())
            try:
                made.poll(future=made.cluster.request_update(), timeout_ms=made.config["request_timeout_ms"])
                polled = self.__dict__.setdefault("_polled", made)  # another thread may have created one first
                self._drive(polled)
                self._check_not_closed()  # another thread may have closed this client without closing `polled`
            finally:
                if self._polled is not made or self._is_closed():
                    made.close()
        polled.poll(timeout_ms=0)
        return polled

    def _drive(self, polled: Any) -> None:
        """Let the `KafkaClient` process its requests when the program polls this client. Does nothing by default."""

    def _check_not_closed(self) -> None:
        if self._is_closed():
            raise IllegalStateError(f"the {type(self).__name__} is closed")

    def _close_polled_client(self) -> None:
        """Close the connections of the `KafkaClient`, if one was created."""
        if self._polled is not None:
            self._polled.close()


class SendsToNodes(HasPolledClient):
    """Private methods of kafka-python 1.4 to 2.x, used to send requests for which the admin client has no method."""

    def _send_request_to_node(self, node_id: Any, request: Any, wakeup: bool = True) -> Any:
        """Send a request from `kafka.protocol` to a broker once it is connected. Returns a future for the response."""
        self._client.await_ready(node_id)
        return self._client.send(node_id, request, wakeup)

    def _wait_for_futures(self, futures: Iterable[Any]) -> None:
        """Wait until all futures are complete. Raises the error of one that has failed."""
        for future in futures:
            self._client.poll(future=future)
            if future.failed():
                raise future.exception

    def _matching_api_version(self, operation: Any) -> int:
        """Return the newest version of a request that both the broker and `kafka.protocol` support.

        Raises `IncompatibleBrokerVersion` if there is no such version.
        """
        version: int = self._client.api_version(operation)
        return version
