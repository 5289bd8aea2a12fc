"""A throw-away Apache Kafka from before KRaft, 0.8.2 to 2.8: a ZooKeeper and brokers on free loopback ports."""

from __future__ import annotations

import shutil
import signal
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from harness.apache import LOGGING_BEFORE_4
from harness.fetch import release_numbers
from harness.ports import free_ports
from harness.process import Supervised
from harness.serving import LIST_OFFSETS_VERSION, await_brokers, await_coordinators, await_served
from harness.tools import JVM, JavaTools
from harness.topics import TIMEOUT_S, await_topic, create_topic

START_TIMEOUT_S = 120.0
FIRST_THAT_CREATES_TOPICS = (0, 10, 1)
FIRST_THAT_TELLS_VERSIONS = (0, 10)
FIRST_WITH_GROUPS = (0, 9)
ZOOKEEPER = "zookeeper"
READY_ZOOKEEPER, READY_BROKER = "binding to port", "started (kafka.server.KafkaServer)"
"""What a process logs when it is ready."""
KEPT_OUT = ("NodeExists", "A broker is already registered")
"""What a broker logs whose session of before it was killed has not ended yet."""


class ZooKeeperKafka:
    """Brokers of an old release, started by `start()` or `with`, ended by `stop()`.

    Arguments:
        version: of Apache Kafka, from 0.8.2 to 2.8.
        folder: where it keeps everything; a temporary folder, removed by `stop()`, if not given.
        nodes: how many brokers.
        properties: added to each server.properties.
        heap: each JVM's largest heap.
        full_jit: whether the JVM may use its optimising compiler, for benchmarks.
    """

    kind = "apache"

    def __init__(
        self,
        version: str,
        folder: Path | None = None,
        *,
        nodes: int = 1,
        properties: Mapping[str, str] | None = None,
        heap: str = "512m",
        full_jit: bool = False,
    ) -> None:
        self.version = version
        self.tools = JavaTools(version)
        self._temporary = folder is None
        self.folder = Path(tempfile.mkdtemp(prefix="kafka-")) if folder is None else folder.resolve()
        self._zookeeper_port, *ports = free_ports(nodes + 1)
        self._ports = dict(enumerate(ports, 1))
        self._release = release_numbers(version)
        self._properties = dict(properties or {})
        jit = [option for option in JVM if not (full_jit and "Tiered" in option)]
        self._jvm = [f"-Xmx{heap}", *jit, f"-Dlog4j.configuration=file:{self.folder / 'log.properties'}"]
        self._processes: dict[str, Supervised] = {}

    @property
    def bootstrap_servers(self) -> str:
        """`host:port` of each node, separated by commas."""
        return ",".join(f"127.0.0.1:{port}" for port in self._ports.values())

    @property
    def _zookeeper(self) -> str:
        return f"127.0.0.1:{self._zookeeper_port}"

    def _broker_properties(self, node: int) -> dict[str, str]:
        """As `harness.properties` for the brokers of today, in the words of then."""
        copies = str(min(3, len(self._ports)))
        properties = {
            "broker.id": str(node),
            "listeners": f"PLAINTEXT://127.0.0.1:{self._ports[node]}",
            "zookeeper.connect": self._zookeeper,
            "zookeeper.connection.timeout.ms": "30000",
            "zookeeper.session.timeout.ms": "3000",
            "log.dirs": str(self.folder / f"data-{node}"),
            "default.replication.factor": copies,
            "offsets.topic.replication.factor": copies,
            "offsets.topic.num.partitions": "3",
            "group.initial.rebalance.delay.ms": "0",
            "group.min.session.timeout.ms": "1000",
            "num.io.threads": "4",
            "delete.topic.enable": "true",  # which is the default from 1.0 on
            "log.retention.hours": "1000000",
            "log.cleaner.dedupe.buffer.size": "10485760",
        }
        min_isr = str(min(2, int(copies)))
        for name, value in (("replication.factor", copies), ("num.partitions", "3"), ("min.isr", min_isr)):
            properties[f"transaction.state.log.{name}"] = value
        if self._release < (0, 9):
            properties |= {"port": str(self._ports[node]), "host.name": "127.0.0.1"}
        return {**properties, **self._properties}

    def start(self) -> ZooKeeperKafka:
        """Start ZooKeeper and all brokers, and return when clients can be served."""
        zookeeper = {"dataDir": str(self.folder / ZOOKEEPER), "clientPort": str(self._zookeeper_port)}
        zookeeper |= {"clientPortAddress": "127.0.0.1", "maxClientCnxns": "0", "admin.enableServer": "false"}
        # Sessions are counted in ticks, of which one is at least two.
        zookeeper["tickTime"] = "1000"
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "log.properties").write_text(LOGGING_BEFORE_4)
        try:
            self._spawn(ZOOKEEPER, "org.apache.zookeeper.server.quorum.QuorumPeerMain", zookeeper)
            self._await_ready(ZOOKEEPER, READY_ZOOKEEPER)
            for node in self._ports:
                self._spawn_broker(node)
            for node in self._ports:
                self._await_ready(_broker_name(node), READY_BROKER)
            if len(self._ports) > 1:
                await_brokers(self.bootstrap_servers, time.monotonic() + TIMEOUT_S)
            if self._release >= FIRST_WITH_GROUPS:
                await_coordinators(self.bootstrap_servers, time.monotonic() + TIMEOUT_S)
            else:
                self.create_topic("first")  # without any topic such a broker names no brokers
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """End the brokers, then ZooKeeper; a temporary folder is removed."""
        brokers = [process for name, process in self._processes.items() if name != ZOOKEEPER]
        for process in brokers:
            process.signal(signal.SIGTERM)
        for process in [*brokers, *(each for name, each in self._processes.items() if name == ZOOKEEPER)]:
            process.end()
        self._processes.clear()
        if self._temporary:
            shutil.rmtree(self.folder, ignore_errors=True)

    def kill(self, node: int = 1) -> None:
        """End one broker as a crash does (SIGKILL) and wait until it is gone."""
        self._processes[_broker_name(node)].kill()

    def restart(self, node: int = 1) -> None:
        """End one broker in order if it still runs, start it on the same port and data, and wait until it is ready.

        One that was killed is kept out for as long as ZooKeeper believes in its session: it is started until it stays.
        """
        name = _broker_name(node)
        if name in self._processes:
            self._processes[name].end()
        deadline = time.monotonic() + START_TIMEOUT_S
        while True:
            self._spawn_broker(node)
            if self._processes[name].wait_for(READY_BROKER, START_TIMEOUT_S):
                return
            if time.monotonic() > deadline or not self._is_kept_out(name):
                self._await_ready(name, READY_BROKER)
            self._processes[name].end()

    def _is_kept_out(self, name: str) -> bool:
        said = self._processes[name].output()
        return any(mark in said for mark in KEPT_OUT)

    def log_text(self, node: int = 1) -> str:
        """What a broker has logged since its last start."""
        return self._processes[_broker_name(node)].output()

    def create_topic(self, name: str, partitions: int = 1, config: Mapping[str, str] | None = None) -> None:
        """Create a topic and return when the brokers serve each of its partitions."""
        deadline = time.monotonic() + TIMEOUT_S
        version = None if self._release >= FIRST_THAT_TELLS_VERSIONS else 0
        if self._release >= FIRST_THAT_CREATES_TOPICS:
            create_topic(self.bootstrap_servers, name, partitions, config)
        else:
            copies = str(min(3, len(self._ports)))
            size = ("--partitions", str(partitions), "--replication-factor", copies)
            configs = [word for key, value in (config or {}).items() for word in ("--config", f"{key}={value}")]
            what = ("--create", "--topic", name, *size, *configs)
            self.tools.run("kafka.admin.TopicCommand", "--zookeeper", self._zookeeper, *what)
            for address in self.bootstrap_servers.split(","):
                await_topic(address, name, partitions, deadline, version)
        if len(self._ports) == 1:
            await_served(
                self.bootstrap_servers, name, partitions, deadline, LIST_OFFSETS_VERSION if version is None else version
            )

    def __enter__(self) -> ZooKeeperKafka:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _spawn_broker(self, node: int) -> None:
        self._spawn(_broker_name(node), "kafka.Kafka", self._broker_properties(node))

    def _spawn(self, name: str, main: str, properties: Mapping[str, str]) -> None:
        """Start one process."""
        file = self.folder / f"{name}.properties"
        file.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
        command = self.tools.command(self._jvm, main, str(file))
        self._processes[name] = Supervised(command, self.folder / f"{name}.log", self.folder)

    def _await_ready(self, name: str, mark: str) -> None:
        process = self._processes[name]
        if not process.wait_for(mark, START_TIMEOUT_S):
            said = "\n".join(process.output().splitlines()[-20:])
            raise RuntimeError(f"the {name} of Apache Kafka {self.version} did not start:\n{said}")


def _broker_name(node: int) -> str:
    return f"broker-{node}"
