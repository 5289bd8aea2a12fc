"""The embedded schema registry, killed while schemas are registered: what was acknowledged is there, with its id."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.ports import free_ports
from kafka.schema_registry import Schema, SchemaRegistryClient, SchemaRegistryError

PROGRAM = (
    "import sys; from kafka.broker import run; "
    "run(sys.argv[1], port=int(sys.argv[2]), registry=True, registry_port=int(sys.argv[3]))"
)
THREADS = 4
ROUNDS = 3
AT_LEAST = 40


class RegistryProcess:
    """A broker with a registry in a process of its own, on ports it keeps from start to start."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ports = free_ports(2)
        self._process: subprocess.Popen[str] | None = None
        self.url = f"http://127.0.0.1:{self._ports[1]}"

    def start(self) -> None:
        command = [sys.executable, "-c", PROGRAM, str(self._folder), *map(str, self._ports)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        assert "ready" in self._process.stdout.readline()

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            with self._process:
                self._process.wait(timeout=20)
            self._process = None


@pytest.fixture
def process(tmp_path: Path) -> Iterator[RegistryProcess]:
    made = RegistryProcess(tmp_path / "data")
    made.start()
    yield made
    made.kill()


def schema(name: str) -> Schema:
    return Schema(json.dumps({"type": "record", "name": name, "fields": [{"name": "id", "type": "long"}]}), "AVRO")


class Registering(threading.Thread):
    """Registers one schema after the other, and keeps the ids that were acknowledged."""

    def __init__(self, url: str, name: str, acknowledged: dict[str, int], enough: threading.Semaphore) -> None:
        super().__init__(daemon=True)
        self._url, self._prefix, self._acknowledged, self._enough = url, name, acknowledged, enough

    def run(self) -> None:
        with SchemaRegistryClient({"url": self._url, "max.retries": 0, "timeout": 20}) as client:
            number = 0
            while True:
                name = f"{self._prefix}_{number}"
                try:
                    found = client.register_schema(f"subject-{name}", schema(name))
                except SchemaRegistryError:  # it was killed
                    return
                self._acknowledged[name] = found
                self._enough.release()
                number += 1


def test_what_was_acknowledged_is_there_after_a_kill_and_ids_are_given_once(process: RegistryProcess) -> None:
    acknowledged: dict[str, int] = {}
    for each in range(ROUNDS):
        enough = threading.Semaphore(0)
        threads = [Registering(process.url, f"R{each}_{number}", acknowledged, enough) for number in range(THREADS)]
        for thread in threads:
            thread.start()
        for _ in range(AT_LEAST):
            assert enough.acquire(timeout=60)
        process.kill()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()
        process.start()
        with SchemaRegistryClient({"url": process.url, "timeout": 20}) as client:
            subjects = set(client.get_subjects())
            for name, schema_id in acknowledged.items():
                assert f"subject-{name}" in subjects
                assert json.loads(client.get_schema(schema_id).schema_str or "")["name"] == name
                assert client.register_schema(f"subject-{name}", schema(name)) == schema_id
    assert len(set(acknowledged.values())) == len(acknowledged) >= ROUNDS * AT_LEAST
