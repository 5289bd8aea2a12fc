"""The synchronous modules that are written from asyncio ones are up to date, and the writer does what it says."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.once

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "twins.py"


@pytest.fixture(scope="module")
def twins() -> ModuleType:
    spec = importlib.util.spec_from_file_location("twins", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["twins"] = module
    spec.loader.exec_module(module)
    return module


def test_every_twin_is_up_to_date(twins: ModuleType) -> None:
    assert twins.main(["--check"]) == 0


def test_a_step_loses_its_waits_and_changes_the_names_of_the_table(twins: ModuleType) -> None:
    text = '''
class AsyncThing:
    """An AsyncThing, which waits.

    See AsyncThings and `AsyncThing`."""

    async def __aenter__(self) -> "AsyncThing":
        async with self._lock:
            return await self.start()  # an AsyncThing
'''
    assert (
        twins.synchronous(text, {"AsyncThing": "Thing"})
        == '''
class Thing:
    """An Thing, which waits.

    See AsyncThings and `Thing`."""

    def __enter__(self) -> "Thing":
        with self._lock:
            return self.start()  # an Thing
'''
    )


def test_names_are_exchanged_in_texts_with_values_too(twins: ModuleType) -> None:
    text = 'raise E(f"an AsyncThing {{AsyncThing}} of {AsyncThing!r:>{n}}, not AsyncThings")\n'
    assert twins.synchronous(text, {"AsyncThing": "Thing"}) == (
        'raise E(f"an Thing {{Thing}} of {Thing!r:>{n}}, not AsyncThings")\n'
    )
