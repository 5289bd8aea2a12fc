"""Frameworks and table libraries that programs use together with this package, in a separate folder."""

from __future__ import annotations

import os
from pathlib import Path

from harness.cache import ROOT
from harness.pins import pinned_folder

PINS = ROOT / "requirements" / "frameworks.txt"


def frameworks_folder() -> Path:
    """Return the folder with the packages of requirements/frameworks.txt, installed if they are not there."""
    return pinned_folder(PINS)


def frameworks_environment() -> dict[str, str]:
    """Return an environment for a separate process, in which they can be imported together with this package."""
    return {**os.environ, "PYTHONPATH": str(frameworks_folder())}
