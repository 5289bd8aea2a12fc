"""Packages of a requirements file, in a folder of their own in the cache."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

from harness.cache import build_once, cache_folder


class PinsError(RuntimeError):
    """The packages could not be installed; the text ends with what pip said."""


def pinned_folder(pins: Path) -> Path:
    """Return the folder with the packages that a file of requirements pins, installed if they are not there."""
    mark = hashlib.sha256(pins.read_bytes() + sys.version.encode()).hexdigest()[:12]

    def make(folder: Path) -> None:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder)]
        done = subprocess.run([*command, "-r", str(pins)], capture_output=True, text=True, check=False)
        if done.returncode:
            raise PinsError(f"pip could not install {pins.name}:\n{done.stderr[-2000:]}")

    return build_once(cache_folder() / pins.stem / mark, make)
