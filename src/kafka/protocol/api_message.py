"""kafka-python 3's import path of `ApiMessage`."""

from kafka.legacy.protocol.api_message import ApiMessage

__all__ = ["ApiMessage"]
