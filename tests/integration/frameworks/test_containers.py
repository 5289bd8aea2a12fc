"""`kafka.testing.containers` with the real testcontainers package, and a server in place of Docker's.

No image is run: what Apache Kafka's image does with its environment was not tried here.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

from conftest import missing
from harness.docker_api import DockerApi
from harness.frameworks import frameworks_environment
from harness.pins import PinsError
from kafka.cli.commands import commands

PROGRAM = """
import json, sys
from kafka import KafkaConsumer, KafkaProducer
from kafka.testing import containers
name, options = json.loads(sys.argv[1])
container = getattr(containers, name)(**options)
if name == "ApacheKafkaContainer":
    container.with_config("auto.create.topics.enable", "true")
try:
    container.bootstrap_servers
except Exception as error:
    print(json.dumps(type(error).__name__))
with container:
    servers = container.bootstrap_servers
    with KafkaProducer(bootstrap_servers=servers) as producer:
        producer.send("t", b"1").get(60)
    with KafkaConsumer("t", bootstrap_servers=servers, auto_offset_reset="earliest") as consumer:
        print(json.dumps([servers, next(consumer).value.decode()]))
"""


def run(api: DockerApi, name: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the program with the packages of frameworks.txt, on the server."""
    try:
        environment = frameworks_environment()
    except PinsError as error:
        missing(str(error))
        raise
    environment |= {
        "DOCKER_HOST": f"unix://{api.socket}",
        "TESTCONTAINERS_RYUK_DISABLED": "true",
        "TESTCONTAINERS_HOST_OVERRIDE": "127.0.0.1",
        "TESTCONTAINERS_CONNECTION_MODE": "docker_host",
    }
    line = [sys.executable, "-c", PROGRAM, json.dumps([name, options])]
    return subprocess.run(line, env=environment, capture_output=True, text=True, timeout=200, check=False)


@pytest.mark.parametrize(
    ("name", "options"),
    [("ApacheKafkaContainer", {}), ("KafkaBrokerContainer", {"options": ["--num-partitions", "3"]})],
)
def test_a_client_reaches_the_published_port(name: str, options: dict[str, Any], tmp_path: Path) -> None:
    with DockerApi(tmp_path) as api:
        done = run(api, name, **options)
        assert done.returncode == 0, done.stderr[-3000:] + "\n".join(api.requests)
        (container,) = api.containers
        before, (servers, value) = map(json.loads, done.stdout.splitlines())
        assert (before, value) == ("IllegalStateError", "1")
        assert container.status == "removed"
        assert container.asked["ExposedPorts"] == {"9092/tcp": {}}
        assert container.asked["Entrypoint"][:2] == ["sh", "-c"]
        words = shlex.split(container.script.splitlines()[1])
        assert servers in container.script or servers.rpartition(":")[2] in words
        variables = dict(each.split("=", 1) for each in container.asked.get("Env", ()))
        if name == "ApacheKafkaContainer":
            assert container.asked["Image"].startswith("apache/kafka:")
            assert words[-1] == "/etc/kafka/docker/run"
            listeners = {each.partition(":")[0] for each in variables["KAFKA_LISTENERS"].split(",")}
            secured = variables["KAFKA_LISTENER_SECURITY_PROTOCOL_MAP"].split(",")
            assert listeners == {each.partition(":")[0] for each in secured}
            assert variables["KAFKA_AUTO_CREATE_TOPICS_ENABLE"] == "true"
        else:
            assert words[:3] == ["exec", "kafka", "broker"]
            command = commands.get_command(click.Context(commands), "broker")
            assert command is not None
            given = command.make_context("broker", words[3:]).params
            assert (given["num_partitions"], given["advertised_host"]) == (3, "127.0.0.1")


def test_a_container_that_ends_is_an_error_with_its_log(tmp_path: Path) -> None:
    with DockerApi(tmp_path, fails=True) as api:
        done = run(api, "KafkaBrokerContainer", options=["--wrong"])
        assert done.returncode == 1
        assert "KafkaConnectionError: the container has ended; the end of its log:\nno such option" in done.stderr
        assert api.containers[0].status == "removed"
