"""The options with the prefix ``kafka.``, and the corresponding keyword arguments of this package's clients. Pure.

Each option of Kafka's Java consumer or producer is either supported, or has no effect and is listed in a warning, or is
rejected with a reason. `scripts/spark_options.py` writes a table of them into docs/SPARK.md.
"""

import contextlib
import dataclasses
import enum
import re
from collections.abc import Callable, Mapping
from typing import Any

from kafka.config import parse_consumer, parse_producer
from kafka.config.java_names import Support, all_java_names, read_java_names, support_of, trimmed
from kafka.errors import KafkaConfigurationError
from kafka.spark.options.option_table import KAFKA_PREFIX
from kafka.spark.options.value_parsers import named_token_provider, positive

_BINARY = "use valueFormat and keyFormat to decode values and keys; without them, they are read as binary"
_STRINGS = "use valueFormat and keyFormat to encode values and keys; without them, they are written unchanged"
_CHECKPOINT = "the offsets of a query are stored in its checkpoint"
_INTERCEPTORS = "interceptors are Java classes"

REFUSED_READING = {
    "kafka.auto.offset.reset": "set where to start with startingOffsets",
    "kafka.key.deserializer": _BINARY,
    "kafka.value.deserializer": _BINARY,
    "kafka.enable.auto.commit": _CHECKPOINT,
    "kafka.interceptor.classes": _INTERCEPTORS,
}
"""Client options that reads reject, with the reasons."""

_NO_GROUP = "reading does not use a consumer group"

IDLE_READING = {
    "kafka.auto.commit.interval.ms": _CHECKPOINT,
    **dict.fromkeys(
        (
            "kafka.group.id",
            "kafka.group.instance.id",
            "kafka.group.protocol",
            "kafka.group.remote.assignor",
            "kafka.heartbeat.interval.ms",
            "kafka.max.poll.interval.ms",
            "kafka.partition.assignment.strategy",
            "kafka.session.timeout.ms",
        ),
        _NO_GROUP,
    ),
    "kafka.allow.auto.create.topics": "a read does not create topics",
    "kafka.exclude.internal.topics": "a pattern never matches internal topics",
    "kafka.max.poll.records": "whole batches are read, without poll()",
    "kafka.partitioner.class": "it does not apply to reads",
}
"""Client options that have no effect on reads, with the reasons."""

REFUSED_WRITING = {
    "kafka.key.serializer": _STRINGS,
    "kafka.value.serializer": _STRINGS,
    "kafka.interceptor.classes": _INTERCEPTORS,
    "kafka.partitioner.class": "partitioners are Java classes; a column `partition` chooses the partition",
    "kafka.transactional.id": "use exactlyOnce and transactionalIdPrefix to write in transactions",
}
"""Client options that writes reject, with the reasons."""

IDLE_WRITING: dict[str, str] = {}
"""Client options that have no effect on writes, with the reasons."""

_OWN: dict[str, tuple[str, Callable[[str, str], Any]]] = {
    "kafka.bootstrap.timeout.ms": ("bootstrap_timeout_ms", positive),
    "kafka.sasl.oauth.token.provider": ("sasl_oauth_token_provider", named_token_provider),
}
"""The keyword argument and the parser of each option that Java's clients do not have."""

_REFUSED = {"consumer": REFUSED_READING, "producer": REFUSED_WRITING}
_IDLE = {"consumer": IDLE_READING, "producer": IDLE_WRITING}
_USE = {"consumer": "a read", "producer": "a write"}
_OTHER = {"consumer": "it does not apply to reads", "producer": "it does not apply to writes"}
_MACHINERY = "it applies to Java clients or to brokers"


class Effect(enum.Enum):
    """The effect of an option."""

    WORKS = "works"
    IDLE = "no effect"
    REFUSED = "refused"


@dataclasses.dataclass(frozen=True, slots=True)
class Handling:
    """How an option is handled.

    Arguments:
        effect: the effect of the option.
        why: the reason, or the supported values; "" if there is nothing to add.
    """

    effect: Effect
    why: str = ""

    def __str__(self) -> str:
        return f"{self.effect.value}: {self.why}" if self.why else self.effect.value


def handling_of(option: str, client: str) -> Handling | None:
    """Return how an option with the prefix ``kafka.`` is handled; None if it is unknown.

    Arguments:
        client: "consumer" for a read, "producer" for a write.
    """
    if option in _OWN:
        return Handling(Effect.WORKS)
    if option in _REFUSED[client]:
        return Handling(Effect.REFUSED, _REFUSED[client][option])
    if option in _IDLE[client]:
        return Handling(Effect.IDLE, _IDLE[client][option])
    support = support_of(option.removeprefix(KAFKA_PREFIX), client)
    if support is None:
        return None
    kind, what = support
    return {
        Support.WORKS: Handling(Effect.WORKS),
        Support.CLASSES: Handling(Effect.WORKS, f"accepts only Java classes that have a built-in equivalent: {what}"),
        Support.IDLE: Handling(Effect.IDLE, _MACHINERY),
        Support.OTHERS: Handling(Effect.IDLE, _OTHER[client]),
        Support.REFUSED: Handling(Effect.REFUSED, what),
    }[kind]


def client_option_handling() -> dict[str, tuple[Handling, Handling]]:
    """Return how reads and writes, in this order, handle each option with the prefix ``kafka.``."""
    handling = {}
    for option in sorted({KAFKA_PREFIX + name for name in all_java_names()} | _OWN.keys()):
        reading, writing = handling_of(option, "consumer"), handling_of(option, "producer")
        assert reading is not None
        assert writing is not None
        handling[option] = reading, writing
    return handling


def client_configs(options: Mapping[str, str], client: str) -> tuple[dict[str, Any], list[str]]:
    """Return checked keyword arguments of a client for options with Kafka's prefix, and the ignored options.

    Arguments:
        options: the options that Spark passes, with lower-case names.
        client: "consumer" for a read, "producer" for a write.

    Raises `KafkaConfigurationError`, which never contains a secret.
    """
    properties, idle = {}, []
    for option, value in options.items():
        if not option.startswith(KAFKA_PREFIX) or option in _OWN:
            continue
        handling = handling_of(option, client)
        if handling is not None and option in _REFUSED[client]:
            raise KafkaConfigurationError(f"option {option!r} is refused: {handling.why}")
        if handling is not None and handling.effect is Effect.IDLE:
            idle.append(f"{option} ({handling.why})")
        else:
            properties[option.removeprefix(KAFKA_PREFIX)] = value
    own = {name: parse(option, options[option]) for option, (name, parse) in _OWN.items() if option in options}
    try:
        configs, unused = read_java_names(trimmed(properties), client)
        configs |= own
        parse_consumer(configs) if client == "consumer" else parse_producer(configs)
    except KafkaConfigurationError as error:
        raise KafkaConfigurationError(_as_given(str(error.args[0]), properties, client)) from None
    return configs, [*idle, *unused]


_WITHOUT_JAVA = {"sasl_plain_username": "sasl.username", "sasl_plain_password": "sasl.password"}
"""Options for which only librdkafka has names."""
_NAMES = re.compile(r"'([a-z0-9._]+)'|\b([a-z0-9]+(?:_[a-z0-9]+)+|acks|retries)\b(?=[= ])")
"""Matches possible option names of this package's clients in messages."""


def _as_given(message: str, properties: Mapping[str, str], client: str) -> str:
    """Rewrite a client's error message with the option names that the user gave, or with their Java names."""
    from kafka.config import option_table

    names = dict(_WITHOUT_JAVA)
    for row in option_table().values():
        if row.java:
            names |= {row.name: row.java, row.java: row.java}
    for given, value in properties.items():
        names[given] = given
        with contextlib.suppress(KafkaConfigurationError):
            names |= dict.fromkeys(read_java_names(trimmed({given: value}), client)[0], given)
    named = {name: KAFKA_PREFIX + java for name, java in names.items()}
    named |= {python: option for option, (python, _) in _OWN.items()}

    def replaced(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        return found[0].replace(name, named.get(name, name))

    return _NAMES.sub(replaced, message)


def idle_warnings(idle: list[str], client: str) -> list[str]:
    """Return a sentence about ignored options, if there are any."""
    return [f"these options have no effect on {_USE[client]}: {', '.join(sorted(idle))}"] if idle else []
