"""kafka-python's import path of `SubscriptionState` and of the rebalance listeners."""

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
