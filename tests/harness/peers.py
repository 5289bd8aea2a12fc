"""Clients that are not ours and cannot be installed beside this package, in a folder of their own."""

from __future__ import annotations

import os
from pathlib import Path

from harness.cache import ROOT
from harness.pins import pinned_folder

PINS = ROOT / "requirements" / "peers.txt"


def peers_folder() -> Path:
    """Return the folder with the packages of requirements/peers.txt, installed if they are not there."""
    return pinned_folder(PINS)


def peers_environment() -> dict[str, str]:
    """Return an environment in which `import kafka` gives kafka-python, for a process of its own."""
    return {**os.environ, "PYTHONPATH": str(peers_folder())}
