"""Interrupting a registry client while it closes: its connections are closed nevertheless."""

from __future__ import annotations

import contextlib
import gc
import os
import time

import pytest

from kafka.formats.registry import registry_clients as registry_client
from kafka.schema_registry import SchemaRegistryClient
from unit.interrupt import PACKAGE, interrupts
from unit.sampling import EVERY

from .scripted_registry import ScriptedRegistry

pytestmark = pytest.mark.once
PATHS = [
    os.path.join(PACKAGE, *part)
    for part in (("formats", "registry", "registry_clients.py"), ("net", "loop_thread.py"), ("net", "loop_call.py"))
]


@pytest.mark.parametrize("every", EVERY)
@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited")
def test_interrupted_closing_ends_all_connections(every: int) -> None:
    with ScriptedRegistry((200, ["s"])) as server:

        def used() -> SchemaRegistryClient:
            client = SchemaRegistryClient({"url": server.url})
            assert client.get_subjects() == ["s"]
            return client

        client: SchemaRegistryClient | None = used()
        assert client is not None
        for interrupt in interrupts(client.close, *PATHS, every=every):
            client = used()
            with contextlib.suppress(KeyboardInterrupt), interrupt:
                client.close()
            client = None
            gc.collect()
            deadline = time.monotonic() + 30
            while registry_client._open:
                if time.monotonic() > deadline:
                    pytest.fail(f"interrupted in {interrupt.where}: connections are left")
                time.sleep(0.001)
