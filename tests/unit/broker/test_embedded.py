"""`EmbeddedBroker` and `run`: start, stop, and start-up time."""

from __future__ import annotations

import contextlib
import re
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from kafka.broker import EmbeddedBroker
from kafka.errors import IllegalStateError, KafkaConfigurationError

pytestmark = pytest.mark.once


def accepts(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=60).close()
    except ConnectionRefusedError:
        return False
    return True


def broker_threads() -> list[str]:
    return [one.name for one in threading.enumerate() if one.name == "kafka-embedded-broker"]


def test_it_listens_only_inside_the_with_block() -> None:
    with EmbeddedBroker() as broker:
        address = broker.bootstrap_servers
        assert re.fullmatch(r"127\.0\.0\.1:\d+", address)
        assert accepts(address)
        assert broker_threads()
    assert not accepts(address)
    assert not broker_threads()


async def test_it_runs_on_the_callers_loop_without_a_thread() -> None:
    async with EmbeddedBroker() as broker:
        assert not broker_threads()
        address = broker.bootstrap_servers
        assert accepts(address)
    assert not accepts(address)


def test_it_can_be_restarted_and_stopped_twice(tmp_path: Path) -> None:
    broker = EmbeddedBroker(tmp_path)
    for _ in range(2):
        assert broker.start() is broker
        assert accepts(broker.bootstrap_servers)
        with pytest.raises(IllegalStateError, match="already running"):
            broker.start()
        broker.stop()
        broker.stop()
    with pytest.raises(IllegalStateError, match="not running"):
        _ = broker.port


def test_a_temporary_folder_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with EmbeddedBroker():
        assert len(list(tmp_path.iterdir())) == 1
    assert not list(tmp_path.iterdir())


def test_a_folder_belongs_to_one_broker_at_a_time(tmp_path: Path) -> None:
    with EmbeddedBroker(tmp_path), pytest.raises(IllegalStateError, match="in use by another broker"):
        EmbeddedBroker(tmp_path).start()
    with EmbeddedBroker(tmp_path):
        pass
    assert not broker_threads()


def test_a_port_in_use_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    with EmbeddedBroker() as broker:
        with pytest.raises(OSError, match="ddress already in use"):
            EmbeddedBroker(tmp_path, port=broker.port).start()
        assert len(broker_threads()) == 1
    with EmbeddedBroker(tmp_path):
        pass


def test_an_invalid_setting_is_rejected_before_anything_starts() -> None:
    with pytest.raises(KafkaConfigurationError, match="fsync"):
        EmbeddedBroker(fsinc=True)
    with pytest.raises(KafkaConfigurationError, match=r"retention\.ms"):
        EmbeddedBroker(topic_defaults={"retention.ms": "x"}).start()
    assert not broker_threads()


@pytest.mark.parametrize(("misspelt", "meant"), [("prt", "port"), ("hostname", "host"), ("datadir", "data_dir")])
def test_a_misspelt_argument_suggests_the_right_one(misspelt: str, meant: str) -> None:
    with pytest.raises(KafkaConfigurationError, match=f"no setting {misspelt}: did you mean {meant}\\?"):
        EmbeddedBroker(**{misspelt: 1})  # type: ignore[arg-type]


def test_the_advertised_address_can_differ() -> None:
    with EmbeddedBroker(advertised_host="localhost") as broker:
        assert broker.bootstrap_servers == f"localhost:{broker.port}"


def test_the_advertised_port_can_differ() -> None:
    with EmbeddedBroker(advertised_host="example.org", advertised_port=19092) as broker:
        assert broker.bootstrap_servers == "example.org:19092"
    with pytest.raises(KafkaConfigurationError, match="advertised_port"):
        EmbeddedBroker(advertised_port=0)


def test_a_broker_on_all_addresses_advertises_a_reachable_one(caplog: pytest.LogCaptureFixture) -> None:
    with EmbeddedBroker(host="0.0.0.0") as broker:  # listening on all addresses is the point
        assert broker.host != "0.0.0.0"
        assert accepts(broker.bootstrap_servers)
    assert "advertised_host" in caplog.text


def test_a_start_imports_nothing_that_only_requests_need() -> None:
    program = "import sys\nfrom kafka.broker import EmbeddedBroker\nwith EmbeddedBroker(): print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    loaded = set(done.stdout.split())
    assert "kafka.broker.broker_server" in loaded
    later = {
        "kafka.broker.groups.group_coordinator",
        "kafka.broker.log.partition",
        "kafka.record",
        "kafka.broker.fault_injection",
    }
    later |= {"kafka.net", "kafka.config", "pyarrow", "cramjam", "kafka.wire.api.produce", "kafka.broker.api.fetch"}
    assert not later & loaded


@pytest.mark.parametrize("ended_by", [signal.SIGTERM, signal.SIGINT])
def test_run_reports_readiness_and_ends_on_signals(tmp_path: Path, ended_by: signal.Signals) -> None:
    program = "import sys; from kafka.broker import run; run(sys.argv[1], port=0)"
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert accepts(line.split()[-1])
        process.send_signal(ended_by)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (0, "", f"records are in {tmp_path}\n")


def test_a_connected_client_does_not_prevent_stopping() -> None:
    with EmbeddedBroker() as broker, socket.create_connection((broker.host, broker.port)) as idle:
        broker.stop()
        with contextlib.suppress(ConnectionResetError):
            assert idle.recv(1) == b""


def test_the_pytest_fixture_provides_a_running_broker(kafka_broker: EmbeddedBroker) -> None:
    assert accepts(kafka_broker.bootstrap_servers)


@pytest.mark.slow
def test_the_pytest_plugin_imports_nothing_until_a_fixture_is_used() -> None:
    program = "import sys, kafka.pytest_plugin; print([one for one in sys.modules if one.startswith('kafka.')])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    assert "kafka.broker" not in done.stdout
    assert "kafka.wire" not in done.stdout
