"""kafka-python's import path of compression."""

from kafka.legacy.codec import *  # noqa: F403
from kafka.legacy.codec import _detect_xerial_stream as _detect_xerial_stream  # programs' tests ask it
