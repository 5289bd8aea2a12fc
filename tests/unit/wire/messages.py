"""Messages for the tests: Kafka's test cases, and their classes."""

from __future__ import annotations

import json
import lzma
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from kafka.wire import Message, message_class

DATA = Path(__file__).parents[2] / "data" / "protocol" / "messages.jsonl.xz"


RENAMED: dict[tuple[str, int], dict[str, str]] = {
    **{("TxnOffsetCommitRequest", v): {"generationId": "generationIdOrMemberEpoch"} for v in range(3, 6)},
    ("StreamsGroupHeartbeatResponse", 0): {"acceptableRecoveryLag": "acceptableRecoveryLagLegacy"},
}
"""Message and version to the JSON keys that a newer release renamed; the declarations use the new names."""


@dataclass(frozen=True)
class Case:
    """A message as JSON and as bytes, written by Kafka."""

    release: str
    name: str
    version: int
    json: dict[str, Any]
    data: bytes

    @property
    def message(self) -> type[Message]:
        """The class of the message, as the release of the case defines it."""
        return message_class(self.name, release="3.9" if self.release == "3.9.1" else None)

    def __str__(self) -> str:
        return f"{self.name} v{self.version} of Kafka {self.release}: {self.data.hex()}"


@cache
def cases() -> tuple[Case, ...]:
    """Return all cases."""
    return tuple(
        Case(case["release"], case["name"], case["version"], _with_new_names(case), bytes.fromhex(case["hex"]))
        for case in map(json.loads, lzma.open(DATA, "rt", encoding="utf-8"))
    )


def _with_new_names(case: dict[str, Any]) -> dict[str, Any]:
    new = RENAMED.get((case["name"], case["version"]), {})
    return {new.get(key, key): value for key, value in case["json"].items()}


@cache
def one_case_a_version() -> tuple[Case, ...]:
    """Return the longest case of each version of each message, for tests that try many changes of each."""
    longest: dict[tuple[str, str, int], Case] = {}
    for case in cases():
        key = (case.message.__name__, case.name, case.version)
        if key not in longest or len(case.data) > len(longest[key].data):
            longest[key] = case
    return tuple(longest.values())
