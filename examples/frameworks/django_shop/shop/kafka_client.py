"""One producer for each process, created when it is first needed.

Servers such as gunicorn import the application and then fork. A producer belongs to the process that created it, so
none is created at import, and a forked process starts without one.
"""

import atexit
import json
import os
import threading
from collections.abc import Iterable
from typing import Any

from django.conf import settings

from kafka import KafkaProducer
from shop.models import Order


class _Producers:
    """Holds this process's producer; several threads may ask for it."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self._lock = threading.Lock()
        self._producer: KafkaProducer[str, Any] | None = None

    def get(self) -> KafkaProducer[str, Any]:
        with self._lock:
            if self._producer is None:
                self._producer = KafkaProducer(
                    bootstrap_servers=settings.KAFKA_BOOTSTRAP_SERVERS,
                    bootstrap_timeout_ms=5_000,
                    delivery_timeout_ms=10_000,  # a request waits for the record, so give up early
                    request_timeout_ms=5_000,
                    max_block_ms=5_000,
                    key_serializer=str.encode,
                    value_serializer=lambda value: json.dumps(value).encode(),
                )
                atexit.register(self._producer.close, timeout=10)
            return self._producer


_producers = _Producers()
os.register_at_fork(after_in_child=_producers.forget)


def announce(orders: Iterable[Order]) -> None:
    """Send a record for each order, and mark the order as announced once the record cannot be lost any more.

    Raises `KafkaError` if a record cannot be sent; the orders before it are marked.
    """
    producer = _producers.get()
    sent = [
        (order, producer.send(settings.KAFKA_TOPIC, {"number": order.pk, "amount": order.amount}, key=order.customer))
        for order in orders
    ]
    for order, future in sent:
        future.get(timeout=15)
        Order.objects.filter(pk=order.pk).update(announced=True)
