"""kafka-python's import path of `AbstractTokenProvider`, from 2.1 to 2.3."""

from kafka.net.sasl.oauth import AbstractTokenProvider as AbstractTokenProvider
