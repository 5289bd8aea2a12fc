"""Tries what was built as a user would: installed into an empty environment, then the first program of the README.

`on_python` runs the unit tests and shares clients between threads there. To run more tests, add their folder to
`TESTS`, and what they import to `TEST_PACKAGES`.
"""

from __future__ import annotations

import re
import socket
from pathlib import Path

from scripts.release.build import ROOT, BuildError
from scripts.release.interpreters import Interpreter

TESTS = (
    *("admin", "aio", "cluster", "config", "consumer", "coordinator", "legacy", "metrics", "net", "partitioner"),
    *("producer", "record", "wire"),
)
"""Folders of unit tests: the clients, which need few packages."""
TEST_PACKAGES = (
    *("pytest", "pytest-asyncio", "pytest-timeout", "iniconfig", "pluggy", "packaging", "pygments"),
    *("hypothesis", "sortedcontainers", "attrs", "typing_extensions", "numpy", "pyarrow", "python-socks", "ruff"),
)
"""What these tests need, with the versions of requirements/dev.txt. All have wheels for a free-threaded Python."""
NEED_OTHERS = (
    *("legacy/test_compression_functions.py", "producer/test_send_arrow.py"),
    *("record/test_codecs.py", "record/test_columns.py", "record/test_reference.py"),
    *("cluster/telemetry", "metrics/test_opentelemetry.py", "metrics/test_prometheus.py"),
    *("consumer/test_bounded_read.py", "producer/send/test_recreated_topics_in_bulk.py"),
    *("cluster/test_wrong_listeners.py", "net/test_tls.py"),
    *("net/sasl/test_msk_iam.py", "net/sasl/test_token_providers.py"),
)
"""Tests in these folders that also need pandas, polars, zstandard, OpenTelemetry, Prometheus, rich, JKS or logins.

The first three have no wheels for a free-threaded Python, or enable the GIL there.
"""
OF_THE_TREE = ("legacy/test_addresses.py::test_the_table_is_only_loaded_for_old_paths",)
"""Tests of what the tree has and a wheel has not: there, the old import paths are modules."""
_COUNTS = re.compile(r"^\d+ passed.*", re.MULTILINE)


def install(python: Interpreter, built: Path, folder: Path) -> Interpreter:
    """Make an environment with what was built and its dependencies, and return its Python."""
    return python.environment(folder, str(built), options=("--no-cache-dir",))


def on_python(inside: Interpreter, pins: list[str], compiled: bool) -> str:
    """Run the unit tests of the clients, then share clients between threads, with what is installed.

    Arguments:
        inside: the Python of the environment.
        pins: the packages that the tests need, with versions.
        compiled: whether compiled modules are installed.

    Returns what came of it; raises `BuildError` if a test fails or the GIL is not as it should be.
    """
    inside.install("--no-deps", *pins)
    folders = [f"tests/unit/{name}" for name in TESTS]
    options = ["-p", "no:cacheprovider", "-q", "-m", "not exhaustive"]
    options += ["-W", "ignore::hypothesis.errors.HypothesisWarning"]  # Python 3.14 counts references differently
    options += [f"--ignore=tests/unit/{name}" for name in NEED_OTHERS]
    options += [f"--deselect=tests/unit/{name}" for name in OF_THE_TREE]
    variables = {"KAFKA_REQUIRE_COMPILED": "1"} if compiled else {"KAFKA_PURE": "1"}
    said = inside.run(ROOT, "-m", "pytest", *options, *folders, PYTHONDONTWRITEBYTECODE="1", **variables)
    counts = _COUNTS.findall(said)
    if not counts:
        raise BuildError(f"pytest ran no test on Python {inside.version}:\n{said[-2000:]}")
    gil = "0" if inside.is_free_threaded else "1"
    shared = inside.run(ROOT, "-W", "error", "scripts/thread_trial.py", "--gil", gil)
    return f"{counts[-1].strip('= ')}; {shared.strip()}"


def first_commands(python: Interpreter, folder: Path, compiled: bool) -> str:
    """The doctor, every module, a broker, and the first program of the README; gives the doctor's first line."""
    said = python.run(folder, "-m", "kafka_columnar", "doctor")
    if ("compiled" if compiled else "plain") not in said.splitlines()[0]:
        raise BuildError(f"the wrong variant was installed:\n{said}")
    python.run(folder, str(ROOT / "scripts" / "imports.py"))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    broker = python.start(folder, "-m", "kafka", "broker", "--data-dir", str(folder / "data"), "--port", str(port))
    try:
        program = readme_program("Produce and consume").replace("localhost:9092", f"127.0.0.1:{port}")
        python.run(folder, "-W", "error", "-c", program)
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
