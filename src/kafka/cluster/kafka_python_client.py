"""`_client`: what programs of kafka-python reach for inside an admin client or a consumer.

They read the cluster there (`admin._client.cluster.brokers()`), and send requests of `kafka.protocol`. It is the
`KafkaClient` of `kafka.client_async`, with connections of its own, and is made when a program asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kafka import _old_names
from kafka.errors import IllegalStateError


class InnerName:
    """An attribute that is worked out when it is read. A derived class, and each object, may set one of its own.

    Arguments:
        read: takes the client.
    """

    def __init__(self, read: Callable[[Any], Any]) -> None:
        self._read = read

    def __get__(self, owner: Any, kind: type[Any] | None = None) -> Any:
        return self if owner is None else self._read(owner)


_HOMES = {"KafkaClient": "kafka.legacy.client_async.kafka_client"}


class HasPolledClient:
    """Base of the synchronous clients that have one."""

    _client = InnerName(lambda owner: owner._polled_client())
    _polled: Any = None

    def _options_given(self) -> Mapping[str, Any]:
        """The options that this client was made with."""
        raise NotImplementedError

    def _is_closed(self) -> bool:
        """Whether this client is closed."""
        raise NotImplementedError

    def _polled_client(self) -> Any:
        """The client, which knows the brokers and all topics; its metadata are refreshed as they are due."""
        polled = self._polled
        if polled is None:
            self._check_not_closed()
            made = _old_names.of_a_package(__name__, "KafkaClient", _HOMES)(**self._options_given())
            try:
                made.poll(future=made.cluster.request_update(), timeout_ms=made.config["request_timeout_ms"])
                polled = self.__dict__.setdefault("_polled", made)  # another thread's, if that was first
                self._drive(polled)
                self._check_not_closed()  # meanwhile, by another thread, which may not have found it
            finally:
                if self._polled is not made or self._is_closed():
                    made.close()
        polled.poll(timeout_ms=0)
        return polled

    def _drive(self, polled: Any) -> None:
        """Complete what programs send by the client wherever they poll this one; nothing to do where none polls."""

    def _check_not_closed(self) -> None:
        if self._is_closed():
            raise IllegalStateError(f"the {type(self).__name__} is closed")

    def _close_polled_client(self) -> None:
        """Close its connections. Does nothing where none was made."""
        if self._polled is not None:
            self._polled.close()


class SendsToNodes(HasPolledClient):
    """The inner methods by which programs of 1.4 to 2.x send requests that the admin client has no method for."""

    def _send_request_to_node(self, node_id: Any, request: Any, wakeup: bool = True) -> Any:
        """Send a request of `kafka.protocol` to a broker, once it is connected; gives the future of the response."""
        self._client.await_ready(node_id)
        return self._client.send(node_id, request, wakeup)

    def _wait_for_futures(self, futures: Iterable[Any]) -> None:
        """Wait until all have a response; raises the error of one that fails."""
        for future in futures:
            self._client.poll(future=future)
            if future.failed():
                raise future.exception

    def _matching_api_version(self, operation: Any) -> int:
        """The newest version of a request that the broker and `kafka.protocol` have, or `IncompatibleBrokerVersion`."""
        version: int = self._client.api_version(operation)
        return version
