"""kafka-python's import path of `AbstractTokenProvider`, in 1.4 and 2.0."""

from kafka.net.sasl.oauth import AbstractTokenProvider as AbstractTokenProvider
