"""Runs inputs by their numbers: `first count` on standard input, a line of number, target and digest for each.

The name of a target as argument makes each input one of that. A line `show NUMBER` gives all that comes out, as one
line of JSON.
"""

from __future__ import annotations

import hashlib
import json
import sys

from fuzz import DISAGREEMENT, Disagreement
from fuzz.targets import run
from kafka._variant import variant


def main() -> None:
    """Serve until standard input ends."""
    print(variant(), flush=True)
    for line in sys.stdin:
        command, argument = line.split()
        if command == "show":
            print(json.dumps(outcome(int(argument))), flush=True)
            continue
        for number in range(int(command), int(command) + int(argument)):
            target, said = outcome(number)
            digest = hashlib.blake2b(said.encode(errors="replace"), digest_size=12).hexdigest()
            print(number, target, digest, flush=True)


def outcome(number: int) -> tuple[str, str]:
    """As `run`, also where the reference disagrees: the target is named so then."""
    try:
        return run(number, *sys.argv[1:])
    except Disagreement as error:
        return DISAGREEMENT, str(error)


if __name__ == "__main__":
    main()
