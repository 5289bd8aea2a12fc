"""Rejects a settings dict like those of confluent-kafka's clients, with advice on what to write instead."""

from collections.abc import Mapping
from typing import Any

from kafka.config.java_names import all_java_names
from kafka.config.librdkafka_table import OWN
from kafka.config.table import option_table


def refuse_positions(given: tuple[Any, ...], face: str, client: str) -> None:
    """Raise `TypeError` if a client was given a positional argument.

    Arguments:
        given: the positional arguments.
        face: name of the client's class.
        client: "producer" or "admin".
    """
    if given:
        raise TypeError(f"{face}() takes no positional arguments, got {_kind(given[0])}: {_advice(face, client)}")


def refuse_settings(topics: tuple[Any, ...], face: str, client: str) -> None:
    """Raise `TypeError` if one of the topics is a dict of settings.

    Arguments:
        topics: the arguments passed as topics.
        face: name of the client's class.
        client: "consumer" or "share consumer".
    """
    for each in topics:
        if isinstance(each, Mapping) and any(isinstance(key, str) and _is_setting(key) for key in each):
            raise TypeError(f"{face}() was given settings instead of a topic: {_advice(face, client, '*topics, ')}")


def _is_setting(name: str) -> bool:
    return name in OWN or name in option_table() or name in all_java_names()


def _kind(given: Any) -> str:
    """Describe a value by its type only, because settings contain secrets."""
    return f"an object of type {type(given).__name__}"


def _advice(face: str, client: str, topics: str = "") -> str:
    return (
        f"pass options as keywords, as in {face}({topics}bootstrap_servers='localhost:9092'); for a dict with Java's "
        f"or confluent-kafka's names, use {face}({topics}**from_java_names(settings, {client!r})) or "
        "from_librdkafka_names, from kafka.config"
    )
