"""Adapts the partitioners of all kafka-python generations to one signature."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from kafka.errors import KafkaConfigurationError
from kafka.partitioner.abc import KnownPartitions
from kafka.partitioner.default import DefaultPartitioner

Pick = Callable[[str, Any, bytes | None, Any, bytes | None, KnownPartitions], int]


def adapt_partitioner(given: Any) -> Pick | None:
    """Adapt a partitioner to the signature of `Partitioner.partition`; return None for the built-in default.

    Arguments:
        given: None, a `Partitioner` or another object with that `partition` method, or a callable
            ``(key_bytes, all_partitions, available)``.

    Raises `KafkaConfigurationError` for any other value.
    """
    if given is None or type(given) is DefaultPartitioner or given is DefaultPartitioner:
        return None
    method = getattr(given, "partition", None)
    if method is not None and not isinstance(given, type) and _sees_the_record(method):
        record_method: Pick = method
        return record_method
    if callable(given) and not isinstance(given, type):
        return _by_key(given)
    if callable(method) and not isinstance(given, type):
        return _by_key(method)
    raise KafkaConfigurationError(
        "option 'partitioner' expects a callable (key_bytes, all_partitions, available) or a Partitioner object, "
        f"not {given!r}"
    )


def partitioner_name(given: Any) -> str:
    """Return a partitioner's name for messages: the name of its function or class, with the module."""
    named = given if hasattr(given, "__qualname__") else type(given)
    return f"{named.__module__}.{named.__qualname__}"


def _sees_the_record(method: Callable[..., Any]) -> bool:
    """Return whether a `partition` method takes six arguments: topic, key, key bytes, value, value bytes, cluster."""
    try:
        parameters = inspect.signature(method).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.kind in positional for p in parameters) >= 6


def _by_key(function: Callable[..., Any]) -> Pick:
    """Wrap a callable that takes only the key bytes and the partitions."""

    def pick(
        topic: str, key: Any, key_bytes: bytes | None, value: Any, value_bytes: bytes | None, c: KnownPartitions
    ) -> int:
        everything = sorted(c.partitions_for_topic(topic) or ())
        picked: int = function(key_bytes, everything, sorted(c.available_partitions_for_topic(topic) or ()))
        return picked

    return pick
