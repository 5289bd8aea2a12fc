"""What a schema registry says of a schema that is not compatible."""

import re
from collections.abc import Sequence
from typing import NamedTuple

_REASON = re.compile(
    r"\{errorType: ?(['\"])(?P<kind>.*?)\1, description: ?(['\"])(?P<text>.*?)\3"
    r"(?:, additionalInfo: ?(['\"])(?P<more>.*?)\5)?\}",
    re.DOTALL,
)
_NOTE = re.compile(r"\{(oldSchemaVersion|oldSchema|compatibility|validateFields): ?'?(.*?)'?\}", re.DOTALL)
"""What Confluent's registries list behind the reasons."""


class Verdict(NamedTuple):
    """Why a schema is not compatible.

    Arguments:
        reasons: in the registry's words.
        version: the version that it was compared with, if the registry says so.
        schema: the text of that version's schema.
        compatibility: the subject's setting.
    """

    reasons: list[str]
    version: int | None = None
    schema: str | None = None
    compatibility: str | None = None


def verdict(messages: Sequence[str]) -> Verdict:
    """Tell reasons from what else a registry says about them."""
    reasons, notes = [], {}
    for each in messages:
        note = _NOTE.fullmatch(each)
        if note is None:
            reasons.append(each)
        else:
            notes[note[1]] = note[2]
    number = notes.get("oldSchemaVersion", "")
    version = int(number) if number.isdecimal() else None
    return Verdict(reasons, version, notes.get("oldSchema"), notes.get("compatibility"))


def readable(reason: str) -> str:
    """A reason as a sentence."""
    found = _REASON.fullmatch(reason)
    if found is None:
        return reason
    more = found["more"]
    return f"{found['kind']}: {found['text']}" + (f" ({more})" if more and more not in found["text"] else "")
