"""A throw-away Apache Kafka: KRaft, one node or more, in one folder, on free loopback ports."""

from __future__ import annotations

import hashlib
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from harness.cache import build_once
from harness.fetch import KAFKA_VERSION
from harness.ports import free_ports
from harness.process import Supervised
from harness.properties import CLUSTER_ID, ClusterPlan, format_arguments, server_properties
from harness.tls import make_certificates
from harness.tools import JVM, JavaTools

READY = "Kafka Server started"
START_TIMEOUT_S = 120.0
LOGGING = """appender.A.type=Console
appender.A.name=A
appender.A.target=SYSTEM_ERR
appender.A.layout.type=PatternLayout
appender.A.layout.pattern=[%d] %p %m (%c)%n
rootLogger.level=INFO
rootLogger.appenderRefs=A
rootLogger.appenderRef.A.ref=A
"""
LOGGING_BEFORE_4 = """log4j.rootLogger=INFO, A
log4j.appender.A=org.apache.log4j.ConsoleAppender
log4j.appender.A.target=System.err
log4j.appender.A.layout=org.apache.log4j.PatternLayout
log4j.appender.A.layout.ConversionPattern=[%d] %p %m (%c)%n
"""


class ApacheKafka:
    """A cluster of real brokers, started by `start()` or `with`, ended by `stop()`.

    Arguments:
        folder: where it keeps everything; a temporary folder, removed by `stop()`, if not given.
        nodes: how many brokers (each is a controller too).
        listeners: some of `plaintext`, `sasl`, `ssl`, `mtls`, `sasl_ssl`; the first is also the one between brokers.
        properties: added to each server.properties; `{node}` stands for the node's number.
        features: levels of features that are not to be the newest.
        heap: the JVM's largest heap.
        jvm: more options of the JVM, such as `-Dname=value`.
        plugins: folders with classes of plug-ins.
        full_jit: whether the JVM may use its optimising compiler (slower to start, faster later: for benchmarks).

    Users and passwords are in `harness.properties.USERS`, the clients' certificates in `tls_folder`.
    """

    kind = "apache"

    def __init__(
        self,
        folder: Path | None = None,
        *,
        version: str = KAFKA_VERSION,
        nodes: int = 1,
        listeners: Sequence[str] = ("plaintext",),
        properties: Mapping[str, str] | None = None,
        features: Mapping[str, int] | None = None,
        heap: str = "512m",
        full_jit: bool = False,
        jvm: Sequence[str] = (),
        plugins: Sequence[Path] = (),
    ) -> None:
        self.version = version
        self.tools = JavaTools(version)
        self._temporary = folder is None
        self.folder = Path(tempfile.mkdtemp(prefix="kafka-")) if folder is None else folder.resolve()
        names = [*listeners, "controller"]
        ports = iter(free_ports(nodes * len(names)))
        table = {node: {name: next(ports) for name in names} for node in range(1, nodes + 1)}
        self.plan = ClusterPlan(self.folder, table, tuple(listeners), dict(properties or {}), dict(features or {}))
        jit = [option for option in JVM if not (full_jit and "Tiered" in option)]
        self._jvm = [f"-Xmx{heap}", *jit]
        self._settings = list(jvm)
        self._plugins = tuple(plugins)
        self._processes: dict[int, Supervised] = {}

    @property
    def bootstrap_servers(self) -> str:
        """`host:port` of each node's first listener, separated by commas."""
        return self.bootstrap(self.plan.listeners[0])

    @property
    def tls_folder(self) -> Path:
        """Where `ca.pem`, `client.pem` and `client.key` are, if a listener uses TLS."""
        return self.folder / "tls"

    def bootstrap(self, listener: str) -> str:
        """`host:port` of each node's named listener, separated by commas."""
        return ",".join(f"127.0.0.1:{ports[listener]}" for ports in self.plan.ports.values())

    def start(self) -> ApacheKafka:
        """Format what is not formatted, start all nodes, and return when all are ready."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "log.properties").write_text(LOGGING)
        (self.folder / "log-1.properties").write_text(LOGGING_BEFORE_4)
        if self.plan.uses_tls and not self.tls_folder.exists():
            make_certificates(self.tls_folder)
        try:
            for node in self.plan.ports:
                self._properties_file(node).write_text(server_properties(self.plan, node))
                self._format(node)
            for node in self.plan.ports:
                self._spawn(node)
            for node in self.plan.ports:
                self._await_ready(node)
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """End all nodes and wait for that; a temporary folder is removed."""
        for process in self._processes.values():
            process.signal(signal.SIGTERM)
        gentle = [process.end() for process in self._processes.values()]
        self._processes.clear()
        if all(gentle) and self._new_archive.exists():
            self._new_archive.replace(self._archive)
        self._new_archive.unlink(missing_ok=True)
        if self._temporary:
            shutil.rmtree(self.folder, ignore_errors=True)

    def kill(self, node: int = 1) -> None:
        """End one node as a crash does (SIGKILL) and wait until it is gone."""
        self._processes[node].kill()

    def restart(self, node: int = 1) -> None:
        """End one node in order if it still runs, start it on the same ports and data, and wait until it is ready."""
        process = self._processes.get(node)
        if process is not None:
            process.end()
        self._spawn(node)
        self._await_ready(node)

    def log_text(self, node: int = 1) -> str:
        """What a node has logged since its last start."""
        return self._processes[node].output()

    def data_folder(self, node: int = 1) -> Path:
        """Where a node keeps its topics (`TOPIC-PARTITION/*.log`)."""
        return self.plan.data_folder(node)

    def tool(self, main: str, *arguments: str, stdin: str | bytes = "") -> subprocess.CompletedProcess[str]:
        """Run a Java class of this version of Kafka, see `JavaTools.run`."""
        return self.tools.run(main, *arguments, stdin=stdin)

    def __enter__(self) -> ApacheKafka:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _properties_file(self, node: int) -> Path:
        return self.folder / f"server-{node}.properties"

    def _format(self, node: int) -> None:
        """Give a node a formatted data folder: a copy of one kept in the cache, as the tool takes two seconds."""
        data = self.plan.data_folder(node)
        if data.exists():
            return
        arguments = format_arguments(self.plan)
        mark = hashlib.sha256(repr((arguments, sorted(self.plan.overrides.items()))).encode()).hexdigest()[:12]

        def make(folder: Path) -> None:
            storage_tool = ("kafka.tools.StorageTool", "format", "-c", str(self._properties_file(node)))
            self.tool(*storage_tool, *arguments)
            data.rename(folder / "data")

        kept = build_once(self.tools.home / f"formatted-{mark}", make)
        shutil.copytree(kept / "data", data)
        (data / "meta.properties").write_text(f"version=1\nnode.id={node}\ncluster.id={CLUSTER_ID}\n")

    def _spawn(self, node: int) -> None:
        options = [*self._jvm, *self._settings]
        if self._archive.exists():
            options.append(f"-XX:SharedArchiveFile={self._archive}")
        elif node == 1 and not self._plugins:
            options.append(f"-XX:ArchiveClassesAtExit={self._new_archive}")
        options += [f"-Dlog4j2.configurationFile={self.folder / 'log.properties'}"]
        options += [f"-Dlog4j.configuration=file:{self.folder / 'log-1.properties'}"]
        command = self.tools.command(options, "kafka.Kafka", str(self._properties_file(node)), plugins=self._plugins)
        self._processes[node] = Supervised(command, self.folder / f"broker-{node}.log", self.folder)

    @property
    def _archive(self) -> Path:
        """The archive of loaded classes that saves a second or two of each start (JEP 350).

        The first broker makes it when it ends in order. A JVM ignores an archive that does not fit it.
        """
        mark = hashlib.sha256(repr((self.tools.java, self._jvm)).encode()).hexdigest()[:8]
        return self.tools.home / f"classes-{mark}.jsa"

    @property
    def _new_archive(self) -> Path:
        """Where the archive is written before it is complete."""
        mark = hashlib.sha256(str(self.folder).encode()).hexdigest()[:8]
        return self._archive.with_suffix(f".{mark}")

    def _await_ready(self, node: int) -> None:
        process = self._processes[node]
        if process.wait_for(READY, START_TIMEOUT_S):
            return
        lines = [line[:300] for line in process.output().splitlines()]
        telling = [line for line in lines if " ERROR " in line or " FATAL " in line or "Exception" in line]
        said = "\n".join((telling or lines)[-9:])
        raise RuntimeError(f"node {node} of Apache Kafka {self.version} did not start, see {process.log}:\n{said}")
