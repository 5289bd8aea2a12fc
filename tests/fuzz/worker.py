"""Runs inputs by their numbers: `first count` on standard input, a line of number, target and digest for each.

The name of a target as argument makes each input one of that. A line `show NUMBER` gives all that comes out, as one
line of JSON. After `watch NUMBER`, which has that input run first, `leaks COUNT` says what is left behind after so
many inputs, as a line of JSON.
"""

from __future__ import annotations

import ctypes
import gc
import hashlib
import json
import sys
from typing import Any

from fuzz import DISAGREEMENT, Disagreement
from fuzz.targets import run
from kafka._variant import variant

_MOST_OBJECTS = 100_000
"""So many may be of modules that are imported late, of what is planned once for a message's version, and of caches."""


class Leaks:
    """Finds what inputs leave behind: objects, and with LeakSanitizer also unreachable memory."""

    def __init__(self) -> None:
        library: Any = ctypes.CDLL(None)
        self._sanitizer = library if hasattr(library, "__lsan_disable") else None
        self._objects = 0

    def watch(self, number: int) -> None:
        """Start watching, after an input that fills the caches."""
        if self._sanitizer is not None:
            self._sanitizer["__lsan_disable"]()
        outcome(number)
        gc.collect()
        if self._sanitizer is not None:
            self._sanitizer["__lsan_enable"]()
        self._objects = len(gc.get_objects())

    def found(self, count: int) -> str:
        """Describe the leak after `count` inputs, or return an empty text; the sanitizer reports on standard error."""
        gc.collect()
        more = len(gc.get_objects()) - self._objects
        if more > max(count, _MOST_OBJECTS):
            return f"{more} objects are left"
        if self._sanitizer is not None:
            self._sanitizer["__lsan_do_recoverable_leak_check"]()
        return ""


def main() -> None:
    """Serve until standard input ends."""
    print(variant(), flush=True)
    leaks = Leaks()
    for line in sys.stdin:
        command, argument = line.split()
        if command == "show":
            print(json.dumps(outcome(int(argument))), flush=True)
            continue
        if command == "watch":
            leaks.watch(int(argument))
            continue
        if command == "leaks":
            print(json.dumps(leaks.found(int(argument))), flush=True)
            continue
        for number in range(int(command), int(command) + int(argument)):
            target, said = outcome(number)
            digest = hashlib.blake2b(said.encode(errors="replace"), digest_size=12).hexdigest()
            print(number, target, digest, flush=True)


def outcome(number: int) -> tuple[str, str]:
    """Like `run`; if the reference disagrees, the target is `DISAGREEMENT`."""
    try:
        return run(number, *sys.argv[1:])
    except Disagreement as error:
        return DISAGREEMENT, str(error)


if __name__ == "__main__":
    main()
