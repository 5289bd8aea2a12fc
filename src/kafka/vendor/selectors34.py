"""kafka-python's copy of `selectors`, for Python 2: the standard library's."""

from selectors import *  # noqa: F403
