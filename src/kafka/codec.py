"""kafka-python's import path of compression."""

from kafka.legacy.codec import *  # noqa: F403
