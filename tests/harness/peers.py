"""Other clients that cannot be installed next to this package, in a separate folder."""

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
    """Return an environment for a separate process, in which `import kafka` imports kafka-python."""
    return {**os.environ, "PYTHONPATH": str(peers_folder())}
