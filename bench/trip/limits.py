"""What a trip may cost: `limits.json` has the counts of the last change, by variant and API.

The unit test compares with it and fails for counts that have grown, and for those that have fallen without a new limit.
So does `python -m bench.trip --limits`; with `--write-limits` it writes the file.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bench.trip.child import Measurement
from bench.trip.count import Variant, measure_in_child, prepared
from bench.trip.programs import STYLES

FILE = Path(__file__).with_name("limits.json")
TRIPS = 40
"""How many trips are counted for a comparison; the medians of more are the same."""
LATE_MS = 1
TOLERANCE = {"Python calls": 1.03, "C calls": 1.06, "allocations": 1.04}
"""How much more is no growth: on a busy machine threads wait more often, and sometimes twice for the same."""
FALLEN = 0.95
"""Below this part of the limit, the limit is out of date."""
Limits = dict[str, dict[str, float]]
"""Counts by API and kind."""


def python_version() -> str:
    """Return the version that limits are for: other versions of Python make other calls on the same path."""
    return ".".join(platform.python_version_tuple()[:2])


def measured(variant: Variant, bootstrap_servers: str) -> tuple[Limits, list[str]]:
    """Count what the limits are about.

    Returns:
        The counts, and functions that the table of stages omits.
    """
    wanted: list[Measurement] = []
    for style in STYLES:
        wanted.append(prepared("calls", style, bootstrap_servers, TRIPS))
        wanted.append(prepared("allocations", style, bootstrap_servers, TRIPS))
    results: Iterator[Any] = iter(measure_in_child(variant, wanted))
    counts: Limits = {}
    unknown: list[str] = []
    for style in STYLES:
        calls, allocations = next(results), next(results)
        counts[style] = {"Python calls": calls["python_total"], "C calls": calls["c_total"]}
        if not isinstance(allocations, str):
            counts[style]["allocations"] = allocations
        unknown += calls["unknown"]
    return counts, unknown


def violations(counts: Limits, limits: Limits) -> list[str]:
    """Return what has grown, and which limits are out of date, in sentences."""
    found = []
    for style, kinds in counts.items():
        for kind, count in kinds.items():
            limit = limits[style][kind]
            if count > limit * TOLERANCE[kind]:
                found.append(
                    f"A trip with {style} takes {count:g} {kind}; the limit is {limit:g}. "
                    "Find the stage that has grown with: python -m bench.trip --functions"
                )
            elif count < limit * FALLEN:
                found.append(
                    f"A trip with {style} takes only {count:g} {kind}; the limit is {limit:g}. "
                    "Lower it, so that it does not grow again: python -m bench.trip --write-limits"
                )
    return found


def compared(counts: Mapping[Variant, Limits]) -> list[str]:
    """Return, for each variant, what `violations` finds, or why its counts cannot be compared."""
    recorded = load()
    if recorded["python"] != python_version():
        return [
            f"the limits are for Python {recorded['python']}, and this is {python_version()}: nothing to compare with"
        ]
    found = []
    for variant, each in counts.items():
        if variant in recorded:
            found += [f"{variant}: {line}" for line in violations(each, recorded[variant])]
        else:
            found.append(f"{variant}: there are no limits; write them with: python -m bench.trip --write-limits")
    return found


def load() -> Mapping[str, Any]:
    """Return the file's content: `python`, the version, and limits by variant."""
    content: Mapping[str, Any] = json.loads(FILE.read_text())
    return content


def save(limits: Mapping[Variant, Limits]) -> None:
    """Write the limits of the variants that were measured; those of the others stay."""
    kept = {name: each for name, each in (load() if FILE.exists() else {}).items() if name != "python"}
    FILE.write_text(json.dumps({"python": python_version(), **kept, **limits}, indent=2) + "\n")
