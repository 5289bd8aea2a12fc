"""Programs of frameworks as processes: each framework in its own environment, started, watched and stopped by a test.

`framework_python` installs the packages of `requirements/framework-<name>.txt` into an environment in the cache, once
for each set of pins. To try another framework, add such a file and its tests in `tests/framework_trials`.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.cache import ROOT, build_once, cache_folder
from harness.pins import PinsError
from harness.process import Supervised
from kafka import KafkaConsumer

EXAMPLES = ROOT / "examples" / "frameworks"
PATIENCE_S = 240
Start = Callable[..., Supervised]
Record = tuple[bytes | None, bytes | None]


def framework_python(name: str) -> Path:
    """Return the interpreter of a framework's environment, which is built if it is not there.

    Arguments:
        name: the part after "framework-" in the name of the requirements file, such as "django".

    Raises `PinsError` if pip cannot install the packages.
    """
    pins = ROOT / "requirements" / f"framework-{name}.txt"
    mark = hashlib.sha256(pins.read_bytes() + sys.version.encode()).hexdigest()[:12]

    def make(folder: Path) -> None:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
        command = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install", "--quiet"]
        done = subprocess.run([*command, "--no-deps", "-r", str(pins)], capture_output=True, text=True, check=False)
        if done.returncode:
            raise PinsError(f"pip could not install {pins.name}:\n{done.stderr[-2000:]}")

    return build_once(cache_folder() / "framework-trials" / f"{name}-{mark}", make) / "bin" / "python"


@contextmanager
def starting(python: Path, search_path: str, logs: Path) -> Iterator[Start]:
    """A function that starts a program; what it has started ends with the block.

    The function takes the interpreter's arguments, the working folder ``cwd`` (the examples, if it is not given), and
    environment variables, and returns the process.

    Arguments:
        python: the interpreter.
        search_path: value of PYTHONPATH.
        logs: folder for the output of the processes.
    """
    started: list[Supervised] = []

    def begin(*command: str, cwd: Path = EXAMPLES, **variables: str) -> Supervised:
        settings = [f"{name}={value}" for name, value in ({"PYTHONPATH": search_path} | variables).items()]
        whole = ["/usr/bin/env", *settings, str(python), "-u", *command]
        started.append(Supervised(whole, logs / f"log-{len(started)}", cwd))
        return started[-1]

    try:
        yield begin
    finally:
        for each in started:
            each.end()


def run(python: Path, *command: str, cwd: Path = EXAMPLES, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a program of a framework to its end, with this package from the source tree; return its status and output."""
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), **variables}
    return subprocess.run(
        [str(python), *command], cwd=cwd, env=env, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )


def url_of(server: Supervised) -> str:
    """Wait until a server listens, and return its URL."""
    assert server.wait_for("http://127.0.0.1:", PATIENCE_S), server.output()[-2000:]
    found = re.search(r"http://127\.0\.0\.1:\d+", server.output())
    assert found is not None
    return found.group()


def values_of(servers: str, topic: str, count: int) -> list[Record]:
    """Return keys and values of the first records of a topic, sorted; wait until there are that many."""
    with KafkaConsumer(
        topic, bootstrap_servers=servers, auto_offset_reset="earliest", consumer_timeout_ms=PATIENCE_S * 1000
    ) as consumer:
        return sorted((record.key, record.value) for record in itertools.islice(consumer, count))


def check_quiet_end(server: Supervised) -> None:
    """Send SIGTERM: the process must end by itself, and without a traceback."""
    assert server.stop(PATIENCE_S), server.output()[-2000:]
    assert "Traceback" not in server.output(), server.output()[-2000:]
