"""The results of a run as JSON, so that runs can be compared."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.circumstances import Circumstances
from bench.figures import Row, Target
from bench.job import Result


@dataclass(frozen=True)
class Run:
    """A run of the benchmarks."""

    about: Circumstances
    rows: Sequence[Row]


def save(path: Path, run: Run) -> None:
    """Write a run to a file."""
    path.write_text(json.dumps(dataclasses.asdict(run), indent=1) + "\n")


def load(path: Path) -> Run:
    """Read a run from a file.

    Raises:
        SystemExit: it is no such file.
    """
    try:
        stored = json.loads(path.read_text())
        return Run(Circumstances(**stored["about"]), [_row(row) for row in stored["rows"]])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SystemExit(f"{path} is not what `python -m bench` writes as JSON: {error!r}") from error


def _row(stored: dict[str, Any]) -> Row:
    results = {client: [Result(**each) for each in rounds] for client, rounds in stored["results"].items()}
    targets = tuple(Target(**each) for each in stored["targets"])
    return Row(**stored | {"clients": tuple(stored["clients"]), "targets": targets, "results": results})
