"""The Pythons that wheels are built for and tried with: on this system, or in a small Debian system in the cache.

A Debian system sees the work tree at the same path, so that commands and paths are the same everywhere. To add a way to
get a Python, extend `scripts.pythons.find_interpreter` or its table of Debian's releases.
"""

from __future__ import annotations

import dataclasses
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from scripts import pythons
from scripts.release.build import ROOT, cleaned, run

FREE_THREADED = "3.14t"
"""The version that runs without the GIL. It gets the wheel in which nothing is compiled."""
_IN_SYSTEM = (
    'root=$0; tree=$1; shift; mount -t proc proc "$root/proc" && mkdir -p "$root$tree" '
    '&& mount --bind "$tree" "$root$tree" && exec chroot "$root" sh -c \'cd "$0" && exec "$@"\' "$PWD" "$@"'
)
"""A shell script that runs a command in the system in a folder, with the work tree and the working directory."""


@dataclasses.dataclass(frozen=True)
class Interpreter:
    """A Python.

    Arguments:
        version: such as ``3.13``; ends with ``t`` if it is free-threaded.
        python: path of its program, in the system in which it runs.
        prefix: what a command begins with to run in that system; empty for this one.
    """

    version: str
    python: str
    prefix: tuple[str, ...] = ()

    @property
    def is_free_threaded(self) -> bool:
        """Whether it is built to run without the GIL."""
        return self.version.endswith("t")

    def command(self, *arguments: str) -> list[str]:
        """Return the command that runs this Python with arguments."""
        return [*self.prefix, self.python, *arguments]

    def run(self, folder: Path, *arguments: str, **variables: str) -> str:
        """Run this Python in a folder below the work tree, and return what it prints; raises `BuildError`."""
        return run(self.command(*arguments), folder, **variables)

    def start(self, folder: Path, *arguments: str) -> subprocess.Popen[str]:
        """Start this Python in a folder below the work tree, without waiting for its end."""
        command = self.command(*arguments)
        output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        return subprocess.Popen(command, cwd=folder, env=cleaned(), text=True, **output)  # type: ignore[call-overload, no-any-return]

    def environment(self, folder: Path, *packages: str, options: Sequence[str] = ()) -> Interpreter:
        """Make an empty environment in a folder below the work tree, install packages, and return its Python.

        Arguments:
            folder: what is in it is removed.
            packages: what pip installs.
            options: further options for pip.
        """
        self.run(ROOT, "-m", "venv", "--clear", str(folder))
        inside = dataclasses.replace(self, python=str(folder / "bin" / "python"))
        if packages:
            inside.install(*packages, options=options)
        return inside

    def install(self, *packages: str, options: Sequence[str] = ()) -> None:
        """Install packages into this environment with pip."""
        self.run(ROOT, "-m", "pip", "install", "--quiet", *options, *packages)


def find(version: str) -> Interpreter:
    """Return the Python of a version; raises `scripts.pythons.UnavailableError` if it is not available."""
    found = pythons.find_interpreter(version)
    if found is not None:
        return Interpreter(version, found)
    folder = pythons.debian(version)
    prefix = ("unshare", "--mount", "sh", "-c", _IN_SYSTEM, str(folder), str(ROOT))
    return Interpreter(version, f"/usr/bin/python{version}", prefix)


def is_demanded(version: str) -> bool:
    """Return whether a release must not be checked without a version: those of CI, with ``CI=true``."""
    return os.environ.get("CI") == "true" and version in pythons.DEMANDED
