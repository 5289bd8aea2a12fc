"""Brokers in containers, for tests (the extra "testcontainers"): Apache Kafka's own image, or our embedded broker's.

    from kafka.testing.containers import ApacheKafkaContainer

    with ApacheKafkaContainer() as container:
        producer = KafkaProducer(bootstrap_servers=container.bootstrap_servers)

A broker has to advertise the port that Docker publishes, which is known only once the container runs. So the container
starts with a command that waits for a script; `BrokerContainer.start` copies the script, and then waits until a client
can connect. To support another image, add a subclass with `launch`.
"""

from __future__ import annotations

import io
import re
import shlex
import tarfile
import time
from typing import ClassVar, Self

from testcontainers.core.container import DockerContainer

from kafka import KafkaAdminClient
from kafka._addresses import format_address
from kafka.errors import IllegalStateError, KafkaConnectionError, KafkaError, KafkaTimeoutError

SCRIPT = "/tmp/kafka-columnar-start.sh"
"""The script that a container waits for."""
_WAITING = f"while [ ! -f {SCRIPT} ]; do sleep 0.1; done; exec sh {SCRIPT}"
_LOG_LINES = 20
_ATTEMPT_MS = 1_000


class BrokerContainer(DockerContainer):  # type: ignore[misc, unused-ignore]  # the package is optional
    """A container with a broker of one node. Use one of its subclasses.

    All methods of testcontainers' `DockerContainer`, such as `with_env` and `with_network`, apply before the start.

    Arguments:
        image: the name of the image, with its tag.
        timeout_s: seconds within which a client must be able to connect; does not include pulling the image.
        container_options: options of `DockerContainer`.
    """

    PORT: ClassVar[int] = 9092

    def __init__(self, image: str, timeout_s: float = 60.0, **container_options: object) -> None:
        super().__init__(image, **container_options)
        self._timeout_s = timeout_s
        self.with_exposed_ports(self.PORT)

    def launch(self, host: str, port: int) -> str:
        """Return the command that starts the broker, for a shell.

        Arguments:
            host: the host name that clients connect to.
            port: the published port.
        """
        raise NotImplementedError

    @property
    def bootstrap_servers(self) -> str:
        """The broker's address as ``host:port``, for clients outside of containers.

        Raises:
            IllegalStateError: the container has not been started.
        """
        if self._container is None:
            raise IllegalStateError("the container is not running: use it in a with block, or call start()")
        return format_address(self.get_container_host_ip(), int(self.get_exposed_port(self.PORT)))

    def start(self) -> Self:
        """Start the container, and wait until a client can connect.

        Raises:
            KafkaConnectionError: the container has ended; the message contains the end of its log.
            KafkaTimeoutError: no client can connect within the timeout.
        """
        self.with_kwargs(**{**self._kwargs, "entrypoint": ["sh", "-c", _WAITING]})
        super().start()
        try:
            host, port = self.get_container_host_ip(), int(self.get_exposed_port(self.PORT))
            self._put_script(f"#!/bin/sh\nexec {self.launch(host, port)}\n")
            self._wait_for_broker(format_address(host, port))
        except BaseException:
            self.stop()
            raise
        return self

    def _put_script(self, script: str) -> None:
        content, archive = script.encode(), io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w") as tar:
            member = tarfile.TarInfo(SCRIPT.rpartition("/")[2])
            member.size, member.mode = len(content), 0o755
            tar.addfile(member, io.BytesIO(content))
        self.get_wrapped_container().put_archive(SCRIPT.rpartition("/")[0], archive.getvalue())

    def _wait_for_broker(self, servers: str) -> None:
        ends = time.monotonic() + self._timeout_s
        while True:
            try:
                configs = {"bootstrap_timeout_ms": _ATTEMPT_MS, "request_timeout_ms": 10 * _ATTEMPT_MS}
                with KafkaAdminClient(bootstrap_servers=servers, **configs) as admin:  # type: ignore[arg-type]
                    admin.describe_cluster()
                return
            except KafkaError as error:
                wrapped = self.get_wrapped_container()
                wrapped.reload()
                if wrapped.status in ("exited", "dead"):
                    raise KafkaConnectionError(
                        f"the container has ended; the end of its log:\n{self._log()}"
                    ) from error
                if time.monotonic() > ends:
                    raise KafkaTimeoutError(
                        f"no client could connect to {servers} within {self._timeout_s:g} s: {error}\n"
                        f"The end of the container's log:\n{self._log()}"
                    ) from error

    def _log(self) -> str:
        lines: list[str] = self.get_wrapped_container().logs(tail=_LOG_LINES).decode("utf-8", "replace").splitlines()
        return "\n".join(lines[-_LOG_LINES:])


class ApacheKafkaContainer(BrokerContainer):
    """Apache Kafka, as one node that is broker and controller (KRaft). The image has about 400 MB.

    Arguments:
        image: the name of the image; another tag selects another release, from 3.7 on.
        timeout_s: seconds within which a client must be able to connect.
        container_options: options of `DockerContainer`.
    """

    def __init__(self, image: str = "apache/kafka:4.1.0", timeout_s: float = 60.0, **container_options: object) -> None:
        super().__init__(image, timeout_s, **container_options)
        for name, value in {
            "NODE_ID": "1",
            "PROCESS_ROLES": "broker,controller",
            "LISTENERS": "CLIENTS://0.0.0.0:9092,BROKERS://0.0.0.0:9093,CONTROLLERS://0.0.0.0:9094",
            "LISTENER_SECURITY_PROTOCOL_MAP": "CLIENTS:PLAINTEXT,BROKERS:PLAINTEXT,CONTROLLERS:PLAINTEXT",
            "INTER_BROKER_LISTENER_NAME": "BROKERS",
            "CONTROLLER_LISTENER_NAMES": "CONTROLLERS",
            "CONTROLLER_QUORUM_VOTERS": "1@localhost:9094",
            "OFFSETS_TOPIC_REPLICATION_FACTOR": "1",
            "TRANSACTION_STATE_LOG_REPLICATION_FACTOR": "1",
            "TRANSACTION_STATE_LOG_MIN_ISR": "1",
            "SHARE_COORDINATOR_STATE_TOPIC_REPLICATION_FACTOR": "1",
            "SHARE_COORDINATOR_STATE_TOPIC_MIN_ISR": "1",
            "GROUP_INITIAL_REBALANCE_DELAY_MS": "0",
        }.items():
            self.with_env(f"KAFKA_{name}", value)

    def with_config(self, name: str, value: str) -> Self:
        """Set a config of the broker, such as ``auto.create.topics.enable``; returns the container.

        Arguments:
            name: the name, as in ``server.properties``.
            value: its value.
        """
        marks = {".": "_", "_": "__", "-": "___"}
        self.with_env("KAFKA_" + re.sub(r"[._-]", lambda mark: marks[mark[0]], name).upper(), value)
        return self

    def launch(self, host: str, port: int) -> str:
        """See `BrokerContainer`."""
        advertised = f"CLIENTS://{format_address(host, port)},BROKERS://localhost:9093"
        return f"env KAFKA_ADVERTISED_LISTENERS={shlex.quote(advertised)} /etc/kafka/docker/run"


class KafkaBrokerContainer(BrokerContainer):
    """The embedded broker in a container, from an image that ``deploy/broker.Containerfile`` builds.

    In the process of the tests, `kafka.broker.EmbeddedBroker` is quicker and needs no container. Use this for programs
    in other languages, or in other containers.

    Arguments:
        image: the name of the image.
        options: further options of ``kafka broker``, such as ``["--num-partitions", "3"]``.
        timeout_s: seconds within which a client must be able to connect.
        container_options: options of `DockerContainer`.
    """

    def __init__(
        self,
        image: str = "kafka-broker",
        options: tuple[str, ...] | list[str] = (),
        timeout_s: float = 60.0,
        **container_options: object,
    ) -> None:
        super().__init__(image, timeout_s, **container_options)
        self._options = tuple(options)

    def launch(self, host: str, port: int) -> str:
        """See `BrokerContainer`."""
        command = ["kafka", "broker", "--host", "0.0.0.0", "--port", str(self.PORT), "--data-dir", "/data"]
        advertised = ["--advertised-host", host, "--advertised-port", str(port)]
        return shlex.join([*command, *advertised, *self._options])
