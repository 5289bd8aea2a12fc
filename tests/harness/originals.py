"""Old releases of kafka-python, each in a folder of the cache, for the interpreter of its time."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

from harness.cache import build_once, cache_folder
from harness.generations import Generation


class OriginalsError(RuntimeError):
    """A release could not be installed; the text ends with what pip said."""


def original_folder(generation: Generation, python: str) -> Path:
    """Return the folder with the packages of a generation, installed with `python` if they are not there."""
    mark = hashlib.sha256(repr((generation.packages, python)).encode()).hexdigest()[:8]

    def make(folder: Path) -> None:
        install = [python, "-m", "pip", "install", "--quiet", "--no-deps", "--disable-pip-version-check"]
        command = [*install, "--target", str(folder), *generation.packages]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise OriginalsError(f"pip could not install {', '.join(generation.packages)}:\n{done.stderr[-2000:]}")

    return build_once(cache_folder() / "originals" / f"{generation.release}-python{generation.python}-{mark}", make)
