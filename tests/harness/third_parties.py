"""Packages that trace kafka-python or build upon it, in a folder of their own: some of them require kafka-python."""

from __future__ import annotations

import os
from pathlib import Path

from harness.cache import ROOT
from harness.pins import pinned_folder

PINS = ROOT / "requirements" / "third_parties.txt"


def third_parties_folder() -> Path:
    """Return the folder with the packages of requirements/third_parties.txt, installed if they are not there."""
    return pinned_folder(PINS)


def third_parties_environment() -> dict[str, str]:
    """Return an environment for a separate process, in which they can be imported together with this package."""
    return {**os.environ, "PYTHONPATH": str(third_parties_folder())}
