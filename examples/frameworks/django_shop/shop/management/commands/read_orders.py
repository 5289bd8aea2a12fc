"""`manage.py read_orders`: store the orders of the topic in the database, until SIGTERM or Ctrl-C.

Offsets are committed after the transaction of their orders. If the process is killed between the two, it reads these
orders again, and `ignore_conflicts` leaves out those that are stored already.
"""

import json
import signal
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import close_old_connections

from kafka import KafkaConsumer
from kafka.errors import KafkaError, WakeupError
from shop.models import ReceivedOrder


class Command(BaseCommand):
    help = "Store the orders of the topic in the database, until SIGTERM or Ctrl-C."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with KafkaConsumer(
                settings.KAFKA_TOPIC,
                bootstrap_servers=settings.KAFKA_BOOTSTRAP_SERVERS,
                group_id=settings.KAFKA_GROUP,
                auto_offset_reset="earliest",
                enable_auto_commit=False,
                key_deserializer=bytes.decode,
                value_deserializer=json.loads,
            ) as consumer:
                for number in signal.SIGTERM, signal.SIGINT:
                    signal.signal(number, lambda *_: consumer.wakeup())
                self.stdout.write("reading orders")
                self.stdout.flush()
                self._read(consumer)
        except WakeupError:
            self.stdout.write("stopped")
        except KafkaError as error:
            raise CommandError(str(error)) from error

    def _read(self, consumer: KafkaConsumer[str, dict[str, int]]) -> None:
        while True:
            polled = consumer.poll(timeout_ms=60_000)
            close_old_connections()  # a connection that the database closed in the meantime is replaced
            found = [
                ReceivedOrder(number=record.value["number"], customer=record.key, amount=record.value["amount"])
                for records in polled.values()
                for record in records
            ]
            if found:
                ReceivedOrder.objects.bulk_create(found, ignore_conflicts=True)
                consumer.commit()
