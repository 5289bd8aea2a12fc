"""Wheels that tests install: of releases from the package index, kept in the cache, and of this tree."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from harness.cache import ROOT, build_once, cache_folder
from harness.pins import PinsError

_NOT_SOURCE = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "*.so", "*.egg-info")


def released_wheel(requirement: str) -> Path:
    """Return the wheel of a release, such as "kafka-python==3.0.12", downloaded if it is not there."""

    def make(folder: Path) -> None:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
        done = subprocess.run([*command, "-d", str(folder), requirement], capture_output=True, text=True, check=False)
        if done.returncode:
            raise PinsError(f"pip could not download {requirement}:\n{done.stderr[-2000:]}")

    (wheel,) = build_once(cache_folder() / "wheels" / requirement, make).glob("*.whl")
    return wheel


def own_wheel(folder: Path) -> Path:
    """Build a wheel of the plain variant of this package in a folder, and return it."""
    tree = folder / "tree"
    tree.mkdir()
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE", "MANIFEST.in"):
        shutil.copy(ROOT / name, tree)
    (tree / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "long_description.py", tree / "scripts")
    shutil.copytree(ROOT / "src", tree / "src", ignore=_NOT_SOURCE)
    command = [sys.executable, "setup.py", "--quiet", "bdist_wheel", "--dist-dir", str(folder)]
    environment = {**os.environ, "KAFKA_PURE": "1"}
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the wheel could not be built:\n{done.stderr[-2000:]}")
    (wheel,) = folder.glob("*.whl")
    return wheel
