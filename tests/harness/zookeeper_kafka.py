"""A throw-away Apache Kafka from before KRaft, 0.9 to 2.8: a ZooKeeper and one broker on free loopback ports."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from harness.ports import free_ports
from harness.process import Supervised
from harness.serving import LIST_OFFSETS_VERSION, await_coordinators, await_served
from harness.tools import JVM, JavaTools
from harness.topics import TIMEOUT_S, await_topic

START_TIMEOUT_S = 120.0
METADATA_VERSION = 0
LOGGING = """log4j.rootLogger=INFO, A
log4j.appender.A=org.apache.log4j.ConsoleAppender
log4j.appender.A.target=System.err
log4j.appender.A.layout=org.apache.log4j.PatternLayout
log4j.appender.A.layout.ConversionPattern=[%d] %p %m (%c)%n
"""
MARKS = {"zookeeper": "binding to port", "broker": "started (kafka.server.KafkaServer)"}
"""What a process logs when it is ready."""


class ZooKeeperKafka:
    """One broker of an old release, started by `start()` or `with`, ended by `stop()`; its folder is removed then.

    Arguments:
        version: of Apache Kafka, from 0.9.0 to 2.8.
        properties: added to server.properties.
        heap: the JVM's largest heap.
        full_jit: whether the JVM may use its optimising compiler, for benchmarks.
    """

    kind = "apache"

    def __init__(
        self, version: str, *, properties: Mapping[str, str] | None = None, heap: str = "512m", full_jit: bool = False
    ) -> None:
        self.version = version
        self.tools = JavaTools(version)
        self.folder = Path(tempfile.mkdtemp(prefix="kafka-"))
        self._port, self._zookeeper_port = free_ports(2)
        self._properties = {**self._basics(), **(properties or {})}
        jit = [option for option in JVM if not (full_jit and "Tiered" in option)]
        self._jvm = [f"-Xmx{heap}", *jit, f"-Dlog4j.configuration=file:{self.folder / 'log.properties'}"]
        self._list_offsets_version = 0 if version.startswith("0.9") else LIST_OFFSETS_VERSION
        self._processes: dict[str, Supervised] = {}

    @property
    def bootstrap_servers(self) -> str:
        """`host:port`."""
        return f"127.0.0.1:{self._port}"

    @property
    def _zookeeper(self) -> str:
        return f"127.0.0.1:{self._zookeeper_port}"

    def _basics(self) -> dict[str, str]:
        """As `harness.properties` for the brokers of today, in the words of then."""
        properties = {
            "broker.id": "1",
            "listeners": f"PLAINTEXT://{self.bootstrap_servers}",
            "zookeeper.connect": self._zookeeper,
            "zookeeper.connection.timeout.ms": "30000",
            "log.dirs": str(self.folder / "data"),
            "offsets.topic.replication.factor": "1",
            "offsets.topic.num.partitions": "3",
            "group.initial.rebalance.delay.ms": "0",
            "group.min.session.timeout.ms": "1000",
            "num.io.threads": "4",
            "log.retention.hours": "1000000",
            "log.cleaner.dedupe.buffer.size": "10485760",
        }
        for name, value in (("replication.factor", "1"), ("num.partitions", "3"), ("min.isr", "1")):
            properties[f"transaction.state.log.{name}"] = value
        return properties

    def start(self) -> ZooKeeperKafka:
        """Start both processes, and return when clients can be served."""
        zookeeper = {"dataDir": str(self.folder / "zookeeper"), "clientPort": str(self._zookeeper_port)}
        zookeeper |= {"clientPortAddress": "127.0.0.1", "maxClientCnxns": "0", "admin.enableServer": "false"}
        (self.folder / "log.properties").write_text(LOGGING)
        try:
            self._spawn("zookeeper", "org.apache.zookeeper.server.quorum.QuorumPeerMain", zookeeper)
            self._spawn("broker", "kafka.Kafka", self._properties)
            await_coordinators(self.bootstrap_servers, time.monotonic() + TIMEOUT_S)
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """End the broker, then ZooKeeper, and remove their folder."""
        for name in ("broker", "zookeeper"):
            process = self._processes.pop(name, None)
            if process is not None:
                process.end()
        shutil.rmtree(self.folder, ignore_errors=True)

    def create_topic(self, name: str, partitions: int = 1) -> None:
        """Create a topic and return when the broker serves each of its partitions."""
        size = ("--partitions", str(partitions), "--replication-factor", "1")
        self.tools.run("kafka.admin.TopicCommand", "--zookeeper", self._zookeeper, "--create", "--topic", name, *size)
        deadline = time.monotonic() + TIMEOUT_S
        await_topic(self.bootstrap_servers, name, partitions, deadline, METADATA_VERSION)
        await_served(self.bootstrap_servers, name, partitions, deadline, self._list_offsets_version)

    def __enter__(self) -> ZooKeeperKafka:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _spawn(self, name: str, main: str, properties: Mapping[str, str]) -> None:
        """Start one process and wait until it is ready."""
        file = self.folder / f"{name}.properties"
        file.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
        command = self.tools.command(self._jvm, main, str(file))
        process = self._processes[name] = Supervised(command, self.folder / f"{name}.log", self.folder)
        if not process.wait_for(MARKS[name], START_TIMEOUT_S):
            said = "\n".join(process.output().splitlines()[-20:])
            raise RuntimeError(f"the {name} of Apache Kafka {self.version} did not start:\n{said}")
