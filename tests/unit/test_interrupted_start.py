"""An interrupt that comes as a program's loop is about to start."""

from __future__ import annotations

import asyncio
import gc
import warnings

import pytest

from kafka._loop_services import run_on_new_loop

pytestmark = pytest.mark.once


async def answer() -> int:
    return 42


@pytest.mark.slow
def test_a_coroutine_that_was_not_begun_leaves_no_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    assert run_on_new_loop(answer()) == 42
    monkeypatch.setattr(asyncio, "run", interrupted)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with pytest.raises(KeyboardInterrupt):
            run_on_new_loop(answer())
        gc.collect()
    assert not said
