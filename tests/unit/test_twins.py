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


def test_a_step_loses_its_waits_and_drops_the_prefix_of_classes(twins: ModuleType) -> None:
    text = '''
class AsyncThing:
    """An AsyncThing, which waits.

    See AsyncThings and `AsyncThing`."""

    async def __aenter__(self) -> "AsyncThing":
        async with self._lock:
            return await self.start()  # an AsyncThing
'''
    assert (
        twins.synchronous(text)
        == '''
class Thing:
    """An Thing, which waits.

    See Things and `Thing`."""

    def __enter__(self) -> "Thing":
        with self._lock:
            return self.start()  # an Thing
'''
    )


def test_names_are_exchanged_in_texts_with_values_too(twins: ModuleType) -> None:
    text = 'raise E(f"an AsyncThing {{AsyncThing}} of {AsyncThing!r:>{n}}, not AsyncThings")\n'
    assert twins.synchronous(text) == 'raise E(f"an Thing {{Thing}} of {Thing!r:>{n}}, not Things")\n'


def test_statements_in_texts_are_synchronous_in_the_twin(twins: ModuleType) -> None:
    text = '"""Use ``async with it:`` or\n``async for x in it``; async code waits."""\n'
    assert twins.synchronous(text) == '"""Use ``with it:`` or\n``for x in it``; async code waits."""\n'


def test_names_that_do_not_follow_the_rule_and_other_words_are_kept_apart(twins: ModuleType) -> None:
    text = "from kafka.a._async.b import LoopRunner, AsyncSerializer  # Asynchronous, NotAsyncThing, AsyncIterator\n"
    assert twins.synchronous(text) == (
        "from kafka.a._sync.b import ThreadRunner, SyncSerializer  # Asynchronous, NotAsyncThing, Iterator\n"
    )


def test_every_module_of_an_async_package_has_a_twin(twins: ModuleType) -> None:
    found = {twin.source: twin.target for twin in twins.twins()}
    assert found["admin/_async/topics.py"] == "admin/_sync/topics.py"
    assert len(found) > 20
    assert [source for source in found if source.endswith("__init__.py")] == ["admin/_async/__init__.py"]
