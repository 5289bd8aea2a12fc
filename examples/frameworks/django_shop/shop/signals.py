"""Sends a record for each new order, once the transaction of the order is committed.

If the record cannot be sent, the order stays `announced=False`, and `manage.py announce_orders` sends it later. So does
an order whose process dies between the commit and the confirmation: each order is announced at least once.
"""

import logging
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models.signals import post_save
from django.dispatch import receiver

from kafka.errors import KafkaError
from shop.kafka_client import announce
from shop.models import Order

logger = logging.getLogger(__name__)


@receiver(post_save, sender=Order)
def order_saved(instance: Order, created: bool, **_: Any) -> None:
    if created:
        transaction.on_commit(partial(try_to_announce, instance))


def try_to_announce(order: Order) -> None:
    try:
        announce([order])
    except KafkaError as error:
        logger.warning("order %s is announced later, by manage.py announce_orders: %s", order.pk, error)
