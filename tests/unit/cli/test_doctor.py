"""`kafka doctor` with a cluster."""

import json
import subprocess
import sys
import time

import pytest

from harness.ports import free_port
from kafka.broker import EmbeddedBroker
from unit.cli.cli_support import Cli

pytestmark = pytest.mark.once


@pytest.mark.slow
def test_a_healthy_cluster(cli: Cli) -> None:
    cli("topics", "create", "well")
    cli("produce", "well", stdin="a\n")
    cluster = cli.json("doctor", "--cluster")["cluster"]
    assert cluster["problems"] == []
    assert [row["reached"] for row in (*cluster["bootstrap"], *cluster["brokers"])] == [True, True]
    assert "no problems found" in cli("doctor", "--cluster")


@pytest.mark.slow
def test_each_address_reports_its_failure(cli: Cli) -> None:
    servers = f"127.0.0.1:1,no-such-host.invalid:9092,{cli.bootstrap_servers}"
    result = cli.run("doctor", "-b", servers)
    assert result.exit_code == 1
    assert "127.0.0.1:1: cannot connect to 127.0.0.1:1: connection refused (ECONNREFUSED)" in result.output
    assert "the name 'no-such-host.invalid' cannot be resolved" in result.output
    assert f"{cli.bootstrap_servers}\ttrue\tok" in result.output


@pytest.mark.slow
def test_a_sasl_listener_is_suggested() -> None:
    with EmbeddedBroker(users={"alice": "secret"}) as broker:
        said = Cli(broker.bootstrap_servers, "/no/such").run("doctor", "--cluster").output
    assert "a listener that requires SASL fails the same way (security_protocol is 'PLAINTEXT')" in said


@pytest.mark.slow
def test_an_unreachable_cluster_gets_advice(cli: Cli) -> None:
    assert "is the cluster up" in cli.run("doctor", "-b", "127.0.0.1:1").output


@pytest.mark.slow
def test_an_unreachable_advertised_address_is_named() -> None:
    port = free_port()
    with EmbeddedBroker(port=port, advertised_host="127.0.0.1", advertised_port=1):
        result = Cli(f"127.0.0.1:{port}", "/no/such").run("doctor", "--cluster")
    assert result.exit_code == 1
    assert "broker 1 advertises 127.0.0.1:1, which fails: cannot connect" in result.output
    assert f"advertised.listeners to an address that is reachable from here, such as 127.0.0.1:{port}" in result.output


@pytest.mark.slow
def test_records_from_the_future_indicate_a_wrong_clock(cli: Cli) -> None:
    cli("topics", "create", "future", "-c", "message.timestamp.after.max.ms=99999999")
    cli("produce", "future", "--timestamp", str(int(time.time() * 1000) + 7_200_000), stdin="a\n")
    result = cli.run("doctor", "--cluster")
    cli("topics", "delete", "future", "-y")
    assert result.exit_code == 1
    assert "in the future" in result.output


@pytest.mark.slow
def test_json_has_the_installation_too(cli: Cli) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "kafka_columnar", "doctor", "--json"], capture_output=True, text=True, check=False
    )
    told = json.loads(done.stdout)
    assert told["libraries"]["cramjam"] != "not installed"
    assert told == {**cli.json("doctor"), "java": told["java"]}


def test_the_cluster_check_requires_the_package() -> None:
    code = "import sys; sys.modules['kafka'] = None; from kafka_columnar import main; main()"
    command = [sys.executable, "-c", code, "doctor", "-b", "localhost:1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "kafka doctor: -b localhost:1 cannot be looked at" in done.stderr
    assert "Traceback" not in done.stderr
