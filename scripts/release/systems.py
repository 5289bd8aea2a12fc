"""Reads the package as on systems that this machine is not, with mypy, whose stubs know what each of them lacks."""

from __future__ import annotations

import subprocess

from scripts.release.build import ROOT, BuildError

SYSTEMS = ("darwin", "win32")
POSIX_ONLY = ("src/kafka/broker/", "src/kafka/cli/demo/")
"""Where only a POSIX system is promised: they can be imported elsewhere, and say then what they need."""


def check(platform: str) -> str:
    """Have mypy check the package for a platform of `sys.platform`; raises `BuildError` if it finds a fault."""
    command = [str(ROOT / ".venv" / "bin" / "mypy"), "--platform", platform, "--no-error-summary", "src"]
    command += [
        "--cache-dir",
        str(ROOT / ".mypy_cache" / platform),
        "--no-warn-unused-ignores",
        "--no-warn-unreachable",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode > 1 or done.stderr:
        raise BuildError(f"mypy failed for {platform}: {done.stderr or done.stdout}")
    faults = done.stdout.splitlines()
    if platform == "win32":
        faults = [line for line in faults if not line.startswith(POSIX_ONLY)]
    if faults:
        raise BuildError(f"on {platform} something is missing:\n" + "\n".join(faults))
    return f"mypy finds nothing missing on {platform}"
