"""kafka-python's import path of `SubscriptionState` and of the rebalance listeners."""

from typing import Any

from kafka import _old_names
from kafka.consumer.subscription.subscription_state import (
    AsyncConsumerRebalanceListener,
    ConsumerRebalanceListener,
    SubscriptionType,
)
from kafka.legacy.subscription.partition import TopicPartitionState
from kafka.legacy.subscription.state import SubscriptionState

__all__ = [
    "AsyncConsumerRebalanceListener",
    "ConsumerRebalanceListener",
    "SubscriptionState",
    "SubscriptionType",
    "TopicPartitionState",
]


def __getattr__(name: str) -> Any:
    """Load a name that this module had in kafka-python because it imported it."""
    return _old_names.of_a_package(__name__, name, {})
