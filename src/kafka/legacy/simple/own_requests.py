"""How programs send requests of their own through a `SimpleClient`: to any broker, or over a broker's connection."""

from __future__ import annotations

import os
import random
import socket
from collections.abc import Callable, Sequence
from typing import Any

from kafka._addresses import format_address
from kafka.errors import KafkaConnectionError, KafkaError, KafkaUnavailableError
from kafka.legacy.connection.broker_connection import BrokerConnection
from kafka.legacy.payloads import BrokerMetadata
from kafka.legacy.simple.apis import text

_PAUSE_S = 0.1


class BrokerConnections:
    """A `BrokerConnection` for each address that was asked for. A copy, or a forked child, has none yet.

    Arguments:
        client_id: the name of the client in brokers' logs.
        timeout_s: how long connecting, and an answer, may take; None: as long as it takes.
    """

    def __init__(self, client_id: str, timeout_s: float | None) -> None:
        self._client_id, self._timeout_s = client_id, timeout_s
        self._pid = os.getpid()
        self._made: dict[tuple[str, int], BrokerConnection] = {}

    def get(self, host: str, port: int, afi: int) -> BrokerConnection:
        """The connection to an address, connected. Raises `KafkaConnectionError`."""
        if self._pid != os.getpid():  # what was made before the fork belongs to the parent
            self._pid, self._made = os.getpid(), {}
        connection = self._made.get((host, port))
        if connection is None:
            limit = {} if self._timeout_s is None else {"request_timeout_ms": max(1, int(self._timeout_s * 1000))}
            connection = BrokerConnection(host, port, afi, client_id=self._client_id, **limit)
            self._made[host, port] = connection
        if not connection.connect_blocking(float("inf") if self._timeout_s is None else self._timeout_s):
            connection.close()
            raise KafkaConnectionError(f"cannot connect to {format_address(host, port)}")
        return connection

    def close(self) -> None:
        """Close all of them."""
        if self._pid == os.getpid():
            for connection in self._made.values():
                connection.close()
        self._made.clear()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._client_id, self._timeout_s)


class SendsOwnRequests:
    """The inner methods by which programs of 1.x send what `SimpleClient` has no method for."""

    brokers: dict[int, BrokerMetadata]
    hosts: list[tuple[str, int]]
    _broker_connections: BrokerConnections

    def _get_conn(self, host: str, port: int, afi: int = socket.AF_UNSPEC) -> BrokerConnection:
        """The connection to a broker, connected. Raises `KafkaConnectionError`."""
        return self._broker_connections.get(text(host), port, afi)

    def _send_broker_unaware_request(
        self, payloads: Sequence[Any], encoder_fn: Callable[..., Any], decoder_fn: Callable[[Any], Any]
    ) -> Any:
        """Send a request to brokers, one after the other until one answers.

        Arguments:
            payloads: what the request is about.
            encoder_fn: makes the request of them, which it is given as ``payloads``.
            decoder_fn: makes the result of the response.

        Raises `KafkaUnavailableError` if no broker answers.
        """
        addresses = sorted({(text(broker.host), broker.port) for broker in self.brokers.values()})
        random.shuffle(addresses)
        failures = []
        for host, port in [*addresses, *(each for each in self.hosts if each not in addresses)]:
            try:
                response = _answer(self._get_conn(host, port), encoder_fn(payloads=payloads))
            except KafkaError as error:
                failures.append(f"{format_address(host, port)}: {error}")
            else:
                return decoder_fn(response)
        raise KafkaUnavailableError(f"All servers failed to process request: {'; '.join(failures)}")


def _answer(connection: BrokerConnection, request: Any) -> Any:
    """Send a request and wait for its response."""
    future = connection.send(request)
    while not future.is_done:
        connection.recv(_PAUSE_S)
    if future.exception is not None:
        raise future.exception
    return future.value
