"""The programs of docs/KUBERNETES.md run, and the probes that its manifests declare pass and fail against them."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.manifests import blocks, probes
from kafka import KafkaProducer
from kafka.broker import EmbeddedBroker
from kafka.cli.commands import commands

CONSUMER, PRODUCER, ASYNCIO = blocks("python")


def exits_with(arguments: list[str]) -> int:
    """The status of a command, run in this process."""
    return CliRunner().invoke(commands, arguments).exit_code


def test_the_consumer_passes_its_probes_and_stops_at_sigterm(tmp_path: Path) -> None:
    declared = [each for each in probes() if each.workload == "warehouse"]
    assert len(declared) == 3
    with EmbeddedBroker(tmp_path / "broker", group_initial_rebalance_delay_ms=0) as broker:
        servers = broker.bootstrap_servers
        environment = {"KAFKA_BOOTSTRAP_SERVERS": servers, "POD_NAME": "warehouse-0", "PROBE_PORT": "0"}
        process = subprocess.Popen([sys.executable, "-c", CONSUMER], env=environment, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            found = re.fullmatch(r"probes at port (\d+)\n", process.stdout.readline())
            assert found is not None
            with KafkaProducer(bootstrap_servers=servers) as producer:
                producer.send("orders", b"3 apples").get(60)
            assert process.stdout.readline() == "b'3 apples'\n"
            for probe in declared:
                assert exits_with(probe.command(f"127.0.0.1:{found[1]}")) == 0, probe.kind
            process.send_signal(signal.SIGTERM)
            assert process.communicate(timeout=60)[0] == "stopped\n"
            assert process.returncode == 0
            told = CliRunner().invoke(commands, ["groups", "lag", "warehouse", "--json", "-b", servers]).stdout
            assert re.search(r'"lag": ?0\b', told), told
        finally:
            process.kill()
            process.communicate()
        for probe in declared:
            assert exits_with(probe.command(f"127.0.0.1:{found[1]}")) == 1, probe.kind


def test_the_producer_writes_the_file_that_its_probes_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    declared = [each for each in probes() if each.workload == "orders"]
    assert len(declared) == 3
    statuses: list[int] = []

    def probed() -> None:
        statuses.extend(
            exits_with([each.replace("/tmp", str(tmp_path)) for each in probe.command("")]) for probe in declared
        )

    with EmbeddedBroker(tmp_path / "broker") as broker:
        monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
        code = PRODUCER.replace("localhost:9092", broker.bootstrap_servers)
        body = f"{code}    written.write()\n    probed()\n".replace(
            "ProbeFile(Probes(producer), path):", "ProbeFile(Probes(producer), path) as written:"
        )
        exec(compile(body, "page", "exec"), {"__name__": "__main__", "probed": probed})
        assert statuses == [0, 0, 0]
        probed()  # the file is removed at the end
        assert statuses[3:] == [1, 1, 1]


def test_the_program_for_asyncio_prints_the_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with EmbeddedBroker(tmp_path / "broker") as broker:
        code = ASYNCIO.replace("localhost:9092", broker.bootstrap_servers)
        exec(compile(code, "page", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out == "True []\n"
