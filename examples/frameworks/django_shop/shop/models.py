"""Orders that the shop has taken, and orders that it has read from the topic."""

from django.db import models


class Order(models.Model):
    """An order. `announced` is False until Kafka has confirmed its record."""

    customer = models.CharField(max_length=100)
    amount = models.PositiveIntegerField()
    announced = models.BooleanField(default=False, db_index=True)


class ReceivedOrder(models.Model):
    """An order from the topic. The number is unique, so a record that is read twice counts once."""

    number = models.BigIntegerField(primary_key=True)
    customer = models.CharField(max_length=100, db_index=True)
    amount = models.PositiveIntegerField()
