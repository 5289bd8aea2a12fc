"""kafka-python's copy of `enum`, for Python 2: the standard library's."""

from enum import *  # noqa: F403
