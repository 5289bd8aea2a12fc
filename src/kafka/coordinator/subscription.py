"""kafka-python's import path of `Subscription`, in 2.x."""

from kafka.legacy.coordinator.consumer_protocol import Subscription

__all__ = ["Subscription"]
