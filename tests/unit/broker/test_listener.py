"""The broker listens on any event loop."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from kafka import KafkaAdminClient
from kafka.broker import EmbeddedBroker, connection_listener

pytestmark = pytest.mark.once


def test_a_loop_without_add_reader_accepts_connections_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulates Windows, where descriptors of sockets cannot be duplicated, either."""
    loops: list[asyncio.AbstractEventLoop] = []
    new_event_loop = asyncio.new_event_loop

    def refused(*_: Any) -> None:
        raise NotImplementedError

    def without_readers() -> asyncio.AbstractEventLoop:
        loop = new_event_loop()
        loop.add_reader = refused  # type: ignore[method-assign]
        loops.append(loop)
        return loop

    monkeypatch.setattr(connection_listener, "_ACCEPTS_BY_HAND", False)
    monkeypatch.setattr(asyncio, "new_event_loop", without_readers)
    monkeypatch.setattr(os, "dup", refused)
    with EmbeddedBroker(tmp_path) as broker, KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        assert admin.list_topics() == []
    assert loops
