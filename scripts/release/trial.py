"""Tries what was built as a user would: installed into an empty environment, then the first program of the README."""

from __future__ import annotations

import re
import socket
import subprocess
from pathlib import Path

from scripts.release.build import ROOT, BuildError, run


def install(python: str, built: Path, folder: Path) -> str:
    """Make an environment with what was built and its dependencies; gives its interpreter."""
    run([python, "-m", "venv", "--clear", str(folder)], ROOT)
    inside = str(folder / "bin" / "python")
    run([inside, "-m", "pip", "install", "--quiet", "--no-cache-dir", str(built)], folder)
    return inside


def first_commands(python: str, folder: Path, compiled: bool) -> str:
    """The doctor, every module, a broker, and the first program of the README; gives the doctor's first line."""
    said = run([str(Path(python).parent / "kafka"), "doctor"], folder)
    if ("compiled" if compiled else "plain") not in said.splitlines()[0]:
        raise BuildError(f"the wrong variant was installed:\n{said}")
    run([python, str(ROOT / "scripts" / "imports.py")], folder)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [python, "-m", "kafka", "broker", "--data-dir", str(folder / "data"), "--port", str(port)]
    broker = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        program = readme_program("Produce and consume").replace("localhost:9092", f"127.0.0.1:{port}")
        run([python, "-W", "error", "-c", program], folder)
    finally:
        broker.terminate()
        broker.communicate()
    return said.splitlines()[0]


def readme_program(title: str) -> str:
    """A program of the README by the heading that it stands under."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(title)}\n.*?^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise BuildError(f"README.md has no program under {title!r}")
    return found[1]
