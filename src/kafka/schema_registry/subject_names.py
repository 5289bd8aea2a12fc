"""The subject under which the schema of a topic's keys or values is registered."""

from __future__ import annotations

from collections.abc import Callable

from kafka.errors import KafkaConfigurationError
from kafka.formats.registry.schemas import SchemaReference
from kafka.serialization import SerializationContext

SubjectNameStrategy = Callable[[SerializationContext | None, str | None], str | None]


def topic_subject_name_strategy(ctx: SerializationContext | None, record_name: str | None) -> str | None:
    """The topic's name, then "-key" or "-value".

    Arguments:
        ctx: has the topic and the field.
        record_name: no effect.

    Raises `ValueError` without a context.
    """
    context = _needed(ctx, "topic_subject_name_strategy")
    return f"{context.topic}-{context.field}"


def topic_record_subject_name_strategy(ctx: SerializationContext | None, record_name: str | None) -> str | None:
    """The topic's name, "-" and the full name of the record's type.

    Arguments:
        ctx: has the topic.
        record_name: the type's name; None: there is no subject.

    Raises `ValueError` without a context.
    """
    context = _needed(ctx, "topic_record_subject_name_strategy")
    return None if record_name is None else f"{context.topic}-{record_name}"


def record_subject_name_strategy(ctx: SerializationContext | None, record_name: str | None) -> str | None:
    """The full name of the record's type.

    Arguments:
        ctx: no effect.
        record_name: the type's name; None: there is no subject.
    """
    return record_name


def reference_subject_name_strategy(ctx: SerializationContext | None, schema_ref: SchemaReference | None) -> str | None:
    """The name of a reference.

    Arguments:
        ctx: no effect.
        schema_ref: the reference; None: there is none.
    """
    return schema_ref.name if schema_ref is not None else None


_BY_NAME: dict[str, SubjectNameStrategy] = {
    "TOPIC": topic_subject_name_strategy,
    "RECORD": record_subject_name_strategy,
    "TOPIC_RECORD": topic_record_subject_name_strategy,
}


def chosen_strategy(given: object, name: object) -> SubjectNameStrategy:
    """The strategy that options select: a function, or one of the three by name; by default, that by topic."""
    if given is not None:
        if not callable(given):
            raise KafkaConfigurationError(f"'subject.name.strategy' must be a function, not {given!r:.60}")
        return given
    if name is None:
        return topic_subject_name_strategy
    text = str(getattr(name, "value", name)).upper()
    if text not in _BY_NAME:
        names = ", ".join(_BY_NAME)
        raise KafkaConfigurationError(f"'subject.name.strategy.type' must be one of {names}, not {name!r:.60}")
    return _BY_NAME[text]


def _needed(ctx: SerializationContext | None, strategy: str) -> SerializationContext:
    if ctx is None:
        raise ValueError(
            f"{strategy} needs a SerializationContext with the topic: pass one, or use record_subject_name_strategy"
        )
    return ctx
