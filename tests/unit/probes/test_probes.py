"""Probes: which states of clients pass, what the server and the file say, and the commands that read them."""

from __future__ import annotations

import http.client
import json
import os
import socket
import threading
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from kafka import KafkaConsumer, KafkaProducer
from kafka.aio import AIOKafkaConsumer, AIOKafkaProducer
from kafka.broker import EmbeddedBroker
from kafka.cli.commands import commands
from kafka.health import Failure, Health, HealthState
from kafka.probes import ProbeFile, Probes, ProbeServer
from kafka.probes.probe_file import read_verdict
from kafka.probes.verdicts import PROBES

pytestmark = pytest.mark.once


class Client:
    """A client in a given state."""

    def __init__(self, state: HealthState, name: str = "c", **more: Any) -> None:
        self.state, self.name, self.more = state, name, more

    def health(self) -> Health:
        return Health(self.state, self.name, **self.more)


def passing(*clients: Client, **options: Any) -> set[str]:
    probes = Probes(*clients, **options)
    return {probe for probe in PROBES if probes.check(probe)}


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (HealthState.STARTING, {"live"}),
        (HealthState.HEALTHY, {"live", "ready", "startup"}),
        (HealthState.DEGRADED, {"live", "startup"}),
        (HealthState.FAILED, set()),
        (HealthState.CLOSED, {"live"}),
    ],
)
def test_the_probes_of_each_state(state: HealthState, expected: set[str]) -> None:
    assert passing(Client(state)) == expected
    assert passing(Client(HealthState.HEALTHY, "other"), Client(state)) == expected


def test_a_degraded_client_can_be_ready() -> None:
    assert passing(Client(HealthState.DEGRADED), ready_while_degraded=True) == {"live", "ready", "startup"}
    assert passing(Client(HealthState.STARTING), ready_while_degraded=True) == {"live"}


def test_the_reasons_name_clients_and_errors_and_no_addresses() -> None:
    failing = (Failure("metadata", "NodeNotReadyError", "10.1.2.3:9092 refused", 1.0, 3),) * 2
    down = Client(HealthState.DEGRADED, "orders", failing=failing)
    lost = Client(HealthState.FAILED, "lost", last_error=Failure("", "ForkedClientError", "secret", 0.0))
    verdict = Probes(down, lost, Client(HealthState.HEALTHY, "orders")).check("ready")
    assert verdict.reasons == ("orders is degraded: NodeNotReadyError", "lost is failed: ForkedClientError")
    assert verdict.clients == {"orders": "degraded", "lost": "failed", "orders (3)": "healthy"}
    assert "10.1.2.3" not in json.dumps(verdict.to_dict())


def test_work_that_does_not_advance_fails_the_liveness_probe_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    probes, now = Probes(Client(HealthState.HEALTHY), stalled_after_s=60), [100.0]
    monkeypatch.setattr(probes, "_now", lambda: now[0])
    probes.progressed()
    now[0] = 160.0
    assert probes.check("live")
    now[0] = 161.0
    verdict = probes.check("live")
    assert verdict.reasons == ("no progress for 61 s; the limit is 60 s",)
    assert verdict.seconds_since_progress == 61
    assert probes.check("ready")
    probes.progressed()
    assert probes.check("live")


@pytest.mark.parametrize(
    ("clients", "options", "error", "text"),
    [
        ((), {}, ValueError, "at least one client"),
        ((Client(HealthState.HEALTHY),), {"stalled_after_s": 0}, ValueError, "above 0 seconds, got 0"),
        (("orders",), {}, TypeError, "got str"),
    ],
)
def test_wrong_arguments(clients: Any, options: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        Probes(*clients, **options)
    with pytest.raises(ValueError, match="'live', 'ready', 'startup', got 'alive'"):
        Probes(Client(HealthState.HEALTHY)).check("alive")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="interval_s above 0 seconds"):
        ProbeFile(Probes(Client(HealthState.HEALTHY)), "x", interval_s=0)


def test_real_clients_of_each_kind(tmp_path: Path) -> None:
    with EmbeddedBroker(tmp_path / "broker") as broker:
        servers = broker.bootstrap_servers
        unstarted = Probes(AIOKafkaProducer(bootstrap_servers=servers), AIOKafkaConsumer(bootstrap_servers=servers))
        assert not unstarted.check("startup")
        assert unstarted.check("live")
        with KafkaProducer(bootstrap_servers=servers) as producer, KafkaConsumer(bootstrap_servers=servers) as consumer:
            producer.send("t", b"1").get(30)
            consumer.topics()
            probes = Probes(producer, consumer)
            assert all(probes.check(probe) for probe in PROBES)
        assert probes.check("live")
        assert not probes.check("ready")


def get(port: int, path: str, method: str = "GET") -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request(method, path)
        answer = connection.getresponse()
        body = answer.read()
        return answer.status, json.loads(body) if body else None
    finally:
        connection.close()


def test_the_server_answers_each_probe_and_stops() -> None:
    client = Client(HealthState.DEGRADED)
    before = threading.active_count()
    with ProbeServer(Probes(client), port=0) as server:
        port = server.port
        assert get(port, "/livez")[0] == 200
        status, told = get(port, "/readyz?verbose")
        assert (status, told["reasons"]) == (503, ["c is degraded"])
        assert get(port, "/startupz", "HEAD") == (200, None)
        assert get(port, "/metrics")[0] == 404
        client.state = HealthState.HEALTHY
        assert get(port, "/readyz")[0] == 200
        server.start()
        assert server.port == port
    server.stop()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), 5)
    assert threading.active_count() <= before + 1  # a connection's thread may still end


def test_a_port_that_is_in_use_is_an_error_at_the_start() -> None:
    probes = Probes(Client(HealthState.HEALTHY))
    with ProbeServer(probes, port=0) as first, pytest.raises(OSError, match="in use"):
        ProbeServer(probes, port=first.port).start()


def run(*arguments: str) -> Result:
    return CliRunner().invoke(commands, ["probe", *arguments])


def test_the_command_for_http_probes() -> None:
    client = Client(HealthState.STARTING, "orders")
    with ProbeServer(Probes(client), port=0) as server:
        url = f"http://127.0.0.1:{server.port}"
        assert run("http", f"{url}/livez").exit_code == 0
        failed = run("http", f"{url}/readyz")
        assert (failed.exit_code, failed.stderr) == (1, f"{url}/readyz: status 503: orders is starting\n")
    refused = run("http", f"{url}/livez", "--timeout", "5")
    assert refused.exit_code == 1
    assert refused.stderr == f"{url}/livez: Connection refused\n"
    assert run("http", "127.0.0.1/livez").exit_code == 2


def test_the_file_is_written_and_removed_and_gets_old(tmp_path: Path) -> None:
    path, client = tmp_path / "probes.json", Client(HealthState.HEALTHY, "orders")
    with ProbeFile(Probes(client), path, interval_s=3600) as file:
        assert run("file", str(path), "ready").exit_code == 0
        client.state = HealthState.DEGRADED
        file.write()
        failed = run("file", str(path), "ready")
        assert (failed.exit_code, failed.stderr) == (1, "ready: orders is degraded\n")
        assert run("file", str(path), "live").exit_code == 0
        told = json.loads(path.read_text())
        path.write_text(json.dumps(told | {"written_at": told["written_at"] - 100}))
        old = run("file", str(path), "live", "--max-age", "60")
        assert old.exit_code == 1
        assert old.stderr.endswith(" s ago; the limit is 60 s\n")
        assert os.listdir(tmp_path) == ["probes.json"]
    assert os.listdir(tmp_path) == []
    missing = run("file", str(path), "live")
    assert missing.exit_code == 1
    assert "No such file" in missing.stderr


def test_the_file_is_renewed_until_it_is_stopped(tmp_path: Path) -> None:
    path, client = tmp_path / "probes.json", Client(HealthState.STARTING)
    renewed = threading.Event()

    class Told(Probes):
        def check(self, probe: Any) -> Any:
            verdict = super().check(probe)
            if verdict and probe == "ready":
                renewed.set()
            return verdict

    file = ProbeFile(Told(client), path, interval_s=0.001)
    file.start()
    file.start()
    client.state = HealthState.HEALTHY
    assert renewed.wait(60)
    file.stop()
    file.stop()
    assert "kafka-probes" not in {each.name for each in threading.enumerate()}


@pytest.mark.parametrize("content", ["", "[]", '{"written_at": 1}', '{"written_at": "x", "probes": {}}', "\x00"])
def test_a_file_of_something_else_fails_the_probe(content: str, tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text(content)
    verdict = read_verdict(path, "live", 1e12)
    assert not verdict
    assert verdict.reasons == (f"{path} was not written by kafka.probes.ProbeFile",)


def test_the_command_for_brokers(tmp_path: Path) -> None:
    with EmbeddedBroker(tmp_path / "broker") as broker:
        passed = run("broker", "-b", broker.bootstrap_servers)
        assert (passed.exit_code, passed.stdout) == (0, f"{broker.bootstrap_servers}: passed\n")
        # One of several addresses is enough, as for clients.
        assert run("broker", "-b", f"127.0.0.1:1,{broker.bootstrap_servers}").exit_code == 0
        servers = broker.bootstrap_servers
    failed = run("broker", "-b", servers)
    assert failed.exit_code == 1
    assert "refused" in failed.stderr


def test_a_broker_with_users_passes_only_with_a_login(tmp_path: Path) -> None:
    with EmbeddedBroker(tmp_path / "broker", users={"ada": "s3cret"}) as broker:
        login = ["-X", "security_protocol=SASL_PLAINTEXT", "-X", "sasl_mechanism=PLAIN"]
        login += ["-X", "sasl_plain_username=ada", "-X", "sasl_plain_password=s3cret"]
        assert run("broker", "-b", broker.bootstrap_servers, *login).exit_code == 0
        wrong = run("broker", "-b", broker.bootstrap_servers, *login[:-1], "sasl_plain_password=x")
        assert wrong.exit_code == 1
        assert "s3cret" not in wrong.stderr
