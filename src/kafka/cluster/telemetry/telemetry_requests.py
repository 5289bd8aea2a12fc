"""The two telemetry requests, for subscriptions and pushes, and the state that is kept between them."""

from __future__ import annotations

import asyncio
from functools import partial
from uuid import UUID

from kafka.cluster.protocols import BrokerConnection
from kafka.cluster.telemetry.collector import Collected, MetricsCollector
from kafka.cluster.telemetry.registered import Values
from kafka.cluster.telemetry.subscription import Subscription
from kafka.errors import (
    KafkaConnectionError,
    KafkaTimeoutError,
    TelemetryTooLargeError,
    UnsupportedCompressionTypeError,
    check_error,
)
from kafka.net.helper_threads import run_blocking
from kafka.record.batch_types import Compression
from kafka.record.codecs import compress
from kafka.wire import NO_UUID
from kafka.wire.api.get_telemetry_subscriptions import GetTelemetrySubscriptionsRequest
from kafka.wire.api.push_telemetry import PushTelemetryRequest


class Exchange:
    """Sends telemetry requests. Used on the loop.

    Arguments:
        collector: provides the metrics to push.
    """

    def __init__(self, collector: MetricsCollector) -> None:
        self._collector = collector
        self._subscription: Subscription | None = None
        self._refused: set[Compression] = set()
        self._most_bytes: int | None = None

    async def subscribe(self, connection: BrokerConnection) -> Subscription:
        """Request the subscription. Raises the broker's error."""
        before = self._subscription
        known: UUID = NO_UUID if before is None else before.client_instance_id
        answer = await connection.send(GetTelemetrySubscriptionsRequest(client_instance_id=known))
        check_error(answer.error_code, "asking which metrics are subscribed to")
        subscription = self._subscription = Subscription.of(answer)
        if before is not None and before.delta != subscription.delta:
            self._collector.reset()
        return subscription

    async def push(self, connection: BrokerConnection, of_program: Values, terminating: bool) -> int:
        """Push the wanted metrics. Returns the number of metrics that did not fit. Raises the broker's error.

        Deltas that a broker may have received are not pushed again: counting too little is better than counting twice.
        """
        subscription = self._subscription
        assert subscription is not None
        pack = partial(self._pack, subscription, of_program)
        collected, codec, data = await run_blocking(pack) if self._collector.is_slow() else pack()
        request = PushTelemetryRequest(
            client_instance_id=subscription.client_instance_id,
            subscription_id=subscription.subscription_id,
            terminating=terminating,
            compression_type=codec,
            metrics=data,
        )
        try:
            answer = await connection.send(request)
        except (KafkaConnectionError, KafkaTimeoutError, asyncio.CancelledError):  # closing cancels the request
            self._collector.pushed(collected)
            raise
        try:
            check_error(answer.error_code, "pushing metrics")
        except TelemetryTooLargeError:
            self._most_bytes = len(collected.data) // 2
            raise
        except UnsupportedCompressionTypeError:
            self._refused.add(codec)
            raise
        self._collector.pushed(collected)
        return collected.left_out

    def _pack(self, subscription: Subscription, of_program: Values) -> tuple[Collected, Compression, bytes]:
        collected = self._collector.collect(subscription, of_program, self._room(subscription))
        codec = self._codec(subscription) if collected.data else Compression.NONE
        return collected, codec, bytes(compress(codec, collected.data))

    def _room(self, subscription: Subscription) -> int:
        """Return the maximum uncompressed size in bytes.

        Newer brokers check the uncompressed size, older ones the compressed size.
        """
        limit = subscription.max_bytes
        return limit if self._most_bytes is None else min(limit, self._most_bytes)

    def _codec(self, subscription: Subscription) -> Compression:
        return next((each for each in subscription.compression if each not in self._refused), Compression.NONE)
