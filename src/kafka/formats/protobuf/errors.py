"""Errors for Protobuf schemas and values."""

from __future__ import annotations

import importlib
from typing import Any

from kafka.errors import KafkaConfigurationError


class ProtobufSchemaError(ValueError):
    """A schema is invalid or unsuitable. The error message says where."""

    remedy = "Correct the schema, or pass its imports as references."


class ProtobufDecodeError(ValueError):
    """Bytes are not a valid message of the expected type."""

    remedy = "Find out which program wrote these bytes, and as which message."

    def __init__(self, text: str, path: str = "") -> None:
        """Make the error.

        Args:
            text: what was expected and found, and where.
            path: the field, such as `order.items[3].price`; empty for the whole message.
        """
        super().__init__(text)
        self.path = path


class ProtobufEncodeError(ValueError):
    """A value does not fit the message type. The error message names the row and field."""

    remedy = "Correct the value of the row and field that the message names."


def library(name: str) -> Any:
    """Import a module from an optional library; raises `KafkaConfigurationError` with the package to install."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        raise KafkaConfigurationError(
            f"Protobuf needs the library {name.partition('.')[0]}: pip install 'kafka-columnar[protobuf]'"
        ) from error
