"""`manage.py announce_orders`: send the records of orders that have none yet. Run it regularly, from cron for example.

An order that is being announced at this moment may get a second record; `read_orders` counts it once.
"""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from kafka.errors import KafkaError
from shop.kafka_client import announce
from shop.models import Order


class Command(BaseCommand):
    help = "Send the records of orders that have none yet."

    def handle(self, *args: Any, **options: Any) -> None:
        orders = list(Order.objects.filter(announced=False).order_by("pk")[:10_000])
        try:
            announce(orders)
        except KafkaError as error:
            raise CommandError(f"not all {len(orders)} orders could be announced: {error}") from error
        self.stdout.write(f"{len(orders)} orders announced")
