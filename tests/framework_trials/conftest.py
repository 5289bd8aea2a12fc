"""Fixtures of the framework trials: the interpreter of a module's framework, and a function that starts programs.

Each module of tests names its framework in `FRAMEWORK`, as in `requirements/framework-<name>.txt`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import missing
from harness.cache import ROOT
from harness.framework_programs import Start, framework_python, starting
from harness.pins import PinsError
from harness.ports import free_port


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each trial a quarter of an hour: it starts several processes, of which some take half a minute."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.timeout(900))


@pytest.fixture(scope="module")
def python(request: pytest.FixtureRequest) -> Path:
    """The interpreter of the module's framework."""
    try:
        return framework_python(request.module.FRAMEWORK)
    except PinsError as error:
        missing(str(error))
        raise


@pytest.fixture
def start(python: Path, tmp_path: Path) -> Iterator[Start]:
    """Start a module of the framework with arguments and variables; it ends with the test."""
    with starting(python, str(ROOT / "src"), tmp_path) as begin:
        yield begin


@pytest.fixture
def nobody() -> str:
    """A server's address at which nothing listens."""
    return f"127.0.0.1:{free_port()}"
