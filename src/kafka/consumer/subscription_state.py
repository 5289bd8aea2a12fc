"""kafka-python's import path of `SubscriptionState` and of the rebalance listeners."""

from kafka.consumer.subscription.subscription_state import (
    AsyncConsumerRebalanceListener as AsyncConsumerRebalanceListener,
)
from kafka.consumer.subscription.subscription_state import ConsumerRebalanceListener as ConsumerRebalanceListener
from kafka.consumer.subscription.subscription_state import SubscriptionState as SubscriptionState
