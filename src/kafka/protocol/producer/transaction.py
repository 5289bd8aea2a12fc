"""kafka-python 3's import path of messages with a version; they are made from `kafka.wire`."""

from kafka.legacy.protocol.subjects import subjects_of

__all__ = sorted(found := subjects_of(__name__))  # noqa: PLE0605
globals().update(found)
