"""kafka-python 3's import path of what 2.x had in `kafka.protocol.metadata`."""

from kafka.legacy.protocol.catalogue import names_of

__all__ = sorted(found := names_of(__name__))  # noqa: PLE0605
globals().update(found)
