"""Packages of Debian that tests need: installed where the tests run as root."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence

from harness.cache import cache_folder, locked

_LONGEST_S = 100


class PackagesMissing(Exception):
    """Packages are not here, and cannot be installed."""


def install(packages: Sequence[str]) -> None:
    """Install packages, as root by apt-get, which runs once at a time on a machine.

    Raises `PackagesMissing`, which says what is missing and why.
    """
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise PackagesMissing(f"these packages are not installed, and only root can do it: {' '.join(packages)}")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    wanted = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages]
    with locked(cache_folder() / ".debian.lock"):
        for command in (["apt-get", "update", "-qq"], wanted):
            what = " ".join(command[:2])
            try:
                done = subprocess.run(
                    command, env=environment, capture_output=True, text=True, check=False, timeout=_LONGEST_S
                )
            except subprocess.TimeoutExpired as error:
                raise PackagesMissing(f"{what} took longer than {_LONGEST_S} s") from error
            if done.returncode:
                raise PackagesMissing(f"{what} failed: {done.stderr.strip()[-300:]}")
