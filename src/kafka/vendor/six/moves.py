"""kafka-python's import path of `six.moves`."""

from kafka.legacy.six_moves import *  # noqa: F403
from kafka.legacy.six_moves import register as _register

_register(__name__)
