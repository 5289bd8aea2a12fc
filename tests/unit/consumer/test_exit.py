"""Consumers that are open when the program ends do not hold it up for longer than one of them may."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kafka.consumer.drive import lifetime


def test_all_consumers_together_get_the_time_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    waited: list[float] = []

    class SilentCall:
        def wait(self, timeout_s: float) -> bool:
            waited.append(timeout_s)
            now[0] += timeout_s
            return False

    def silent_consumer() -> Any:
        group = SimpleNamespace(group_id=None)
        config = SimpleNamespace(group=group)
        return SimpleNamespace(closed=False, close_begun=False, config=config, close=lambda timeout_ms: None)

    class Cores(dict[Any, Any]):
        def items(self) -> Any:
            runner = SimpleNamespace(begin=lambda close: SilentCall())
            return [(silent_consumer(), runner) for _ in range(3)]

    monkeypatch.setattr(lifetime, "_open", Cores())
    monkeypatch.setattr(lifetime.time, "monotonic", lambda: now[0])
    lifetime._at_exit()
    assert waited == [lifetime._CLOSE_MS / 1000, 0.0, 0.0]
