"""kafka-python's import path of requests and responses by version, made from `kafka.wire`.

What 2.x had is as in 2.x, and gives a message of kafka-python 3 where it is called with a version.
"""

from kafka.legacy.protocol.catalogue import names_of
from kafka.legacy.protocol.subjects import subjects_of

__all__ = sorted(found := subjects_of(__name__) | names_of(__name__))  # noqa: PLE0605
globals().update(found)
