"""Clients that are not ours and cannot be installed beside this package, in a folder of their own."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

from harness.cache import ROOT, build_once, cache_folder

PINS = ROOT / "requirements" / "peers.txt"


class PeersError(RuntimeError):
    """The peers could not be installed."""


def peers_folder() -> Path:
    """Return the folder with the packages of requirements/peers.txt, installed if they are not there."""
    mark = hashlib.sha256(PINS.read_bytes() + sys.version.encode()).hexdigest()[:12]

    def make(folder: Path) -> None:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder)]
        done = subprocess.run([*command, "-r", str(PINS)], capture_output=True, text=True, check=False)
        if done.returncode:
            raise PeersError(f"pip could not install {PINS.name}:\n{done.stderr[-2000:]}")

    return build_once(cache_folder() / "peers" / mark, make)


def peers_environment() -> dict[str, str]:
    """Return an environment in which `import kafka` gives kafka-python, for a process of its own."""
    return {**os.environ, "PYTHONPATH": str(peers_folder())}
