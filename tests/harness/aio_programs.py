"""The programs of `examples/aio`, which are written for aiokafka, and how they run: under it, or under `kafka.aio`.

As a script: `python aio_programs.py LIBRARY SERVERS PREFIX NAME...` runs programs one after the other and prints, as
JSON, what each has printed.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
import traceback
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parents[2] / "examples" / "aio"
NAMES = sorted(path.stem for path in PROGRAMS.glob("*.py"))
LIBRARIES = ("aiokafka", "kafka.aio")
_IMPORT = re.compile(r"^from aiokafka\b", re.MULTILINE)


def source(name: str, library: str) -> str:
    """A program with its imports from ``library``: nothing else of it changes."""
    return _IMPORT.sub(f"from {library}", (PROGRAMS / f"{name}.py").read_text())


def topics(prefix: str) -> dict[str, int]:
    """The topics that the programs need, with the number of their partitions."""
    return {f"{prefix}-{name}": 3 for name in NAMES} | {f"{prefix}-{name}-out": 1 for name in NAMES}


def run_in_process(name: str, library: str, servers: str, prefix: str) -> str:
    """Run a program here; what it printed, and the traceback it ended with, if there is one."""
    os.environ.update(
        KAFKA_BOOTSTRAP_SERVERS=servers,
        TOPIC=f"{prefix}-{name}",
        TOPIC_OUT=f"{prefix}-{name}-out",
        GROUP=f"{prefix}-{name}",
    )
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            code = compile(source(name, library), str(PROGRAMS / f"{name}.py"), "exec")
            exec(code, {"__name__": "__main__"})
        except BaseException:
            traceback.print_exc(file=printed)
    return printed.getvalue()


def run(library: str, servers: str, prefix: str, names: list[str]) -> dict[str, str]:
    """What each program prints, run one after the other in a process of their own. Warnings go to the log there."""
    command = [sys.executable, "-W", "default", __file__, library, servers, prefix, *names]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    if done.returncode:
        raise AssertionError(f"the programs under {library} did not end well:\n{done.stderr[-4000:]}")
    printed: dict[str, str] = json.loads(done.stdout)
    return printed


if __name__ == "__main__":
    _library, _servers, _prefix, *_names = sys.argv[1:]
    print(json.dumps({name: run_in_process(name, _library, _servers, _prefix) for name in _names}))
