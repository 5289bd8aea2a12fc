"""Names of subjects. ``:.dev:orders-value`` is the subject orders-value in the context .dev; each has its own ids."""

from __future__ import annotations

from typing import NamedTuple

from kafka.broker.registry.refusals import invalid_subject

DEFAULT_CONTEXT = "."
_RESERVED = ("__GLOBAL", "__EMPTY")


class Subject(NamedTuple):
    """A subject in its context; its name is empty for the context as a whole."""

    context: str
    name: str

    def __str__(self) -> str:
        """The text that `subject_of` reads as this subject, whatever its name looks like."""
        is_plain = self.context == DEFAULT_CONTEXT and subject_of(self.name) == self
        return self.name if is_plain else f":{self.context}:{self.name}"


def subject_of(text: str, default: str = DEFAULT_CONTEXT) -> Subject:
    """Read a name, which may have a context before it; `default` is that of names without."""
    if text.startswith(":"):
        context, colon, name = text[1:].partition(":")
        if colon and context.startswith("."):
            return Subject(context, name)
    return Subject(default, text)


def checked_subject(text: str, default: str = DEFAULT_CONTEXT) -> Subject:
    """As `subject_of`, for a schema that is registered there; raises `Refused` for what is no name."""
    subject = subject_of(text, default)
    if not subject.name or subject.name in _RESERVED or any(ord(each) < 32 for each in str(subject)):
        raise invalid_subject(text)
    return subject
