"""kafka-python's import path of requests and responses by version; they are made from `kafka.wire`."""

from kafka.legacy.protocol.catalogue import names_of

__all__ = sorted(found := names_of(__name__))  # noqa: PLE0605
globals().update(found)
