"""What the records of installed distributions say of the files in a package, and what is there."""

import base64
import csv
import hashlib
import importlib.metadata
from pathlib import Path

PACKAGE = "kafka"
_CACHES = "__pycache__"


def normal(name: str) -> str:
    """The one spelling of a distribution's name."""
    return name.lower().replace("_", "-").replace(".", "-")


def name_of(distribution: importlib.metadata.Distribution) -> str:
    """The name of a distribution; empty for what an interrupted installation leaves, which has no metadata."""
    try:
        return normal(distribution.metadata["Name"])
    except (AttributeError, KeyError):
        return ""


def recorded(distribution: importlib.metadata.Distribution) -> dict[str, str]:
    """The files in the package `kafka` that were installed, each with its digest, sources and compiled modules alike.

    `Distribution.files` leaves out what is missing.
    """
    rows = csv.reader((distribution.read_text("RECORD") or "").splitlines())
    named = ((row[0], row[1]) for row in rows if len(row) > 1)
    return {name: digest for name, digest in named if name.startswith(f"{PACKAGE}/") and _CACHES not in name}


def changed(distribution: importlib.metadata.Distribution, files: dict[str, str]) -> dict[str, bool]:
    """Those of its files that are not as they were installed; each with whether it is there at all."""
    found = {}
    for name, digest in files.items():
        try:
            content = Path(str(distribution.locate_file(name))).read_bytes()
        except OSError:
            found[name] = False
            continue
        if digest.startswith("sha256=") and digest != f"sha256={_sha256(content)}":
            found[name] = True
    return found


def _sha256(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
