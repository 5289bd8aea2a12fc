"""kafka-python's import path of `six`."""

from kafka.legacy.six import *  # noqa: F403
from kafka.vendor.six import moves as moves
