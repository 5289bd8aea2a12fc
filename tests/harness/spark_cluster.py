"""Servers of Spark on this machine: a standalone cluster with two workers, and a server of Spark Connect."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyspark

from harness.ports import free_ports
from harness.process import Supervised

HOME = Path(pyspark.__file__).parent
START_S = 180.0
SMALL_JVM = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"


class SparkServerError(RuntimeError):
    """A server did not start; the message has the end of its log."""


def start(main: str, arguments: Sequence[str], log: Path, ready: str, env: Mapping[str, str]) -> Supervised:
    """Start a class of Spark's, or a script, and wait until its log says that it is ready."""
    settings = {
        "SPARK_HOME": str(HOME),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": SMALL_JVM,
        "SPARK_NO_DAEMONIZE": "1",
        **env,
    }
    command = ["env", *(f"{name}={value}" for name, value in settings.items()), main, *arguments]
    process = Supervised(command, log, log.parent)
    if not process.wait_for(ready, START_S):
        process.end()
        raise SparkServerError(f"{main} {' '.join(arguments)} did not start:\n{process.output()[-3_000:]}")
    return process


@contextlib.contextmanager
def connect_server(folder: Path, env: Mapping[str, str] | None = None) -> Iterator[tuple[str, Supervised]]:
    """Run a server of Spark Connect with a local master; gives its URL and its process.

    Arguments:
        folder: for its log and its warehouse.
        env: more environment variables.
    """
    (port,) = free_ports(1)
    settings = {
        "spark.master": "local[2]",
        "spark.driver.memory": "512m",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraJavaOptions": SMALL_JVM,
        "spark.ui.enabled": "false",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    given = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    main = ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", *given, "spark-internal"]
    variables = {"PYSPARK_PYTHON": sys.executable, "SPARK_DAEMON_MEMORY": "600m", **(env or {})}
    script = str(HOME / "bin" / "spark-submit")
    server = start(script, main, folder / "connect.log", "Spark Connect server started at", variables)
    try:
        yield f"sc://127.0.0.1:{port}", server
    finally:
        server.end()


class Standalone:
    """A master and two workers of one core each on this machine. A context manager.

    Arguments:
        folder: for logs and what applications leave behind.
        env: of the workers, and so of their executors.
    """

    def __init__(self, folder: Path, env: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.url = ""
        self._env = dict(env or {})
        self._processes: list[Supervised] = []

    def __enter__(self) -> Standalone:
        (port,) = free_ports(1)
        self.url = f"spark://127.0.0.1:{port}"
        script = str(HOME / "bin" / "spark-class")
        master = ["org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", str(port)]
        try:
            self._start(script, [*master, "--webui-port", "0"], "master", "I have been elected leader")
            for number in range(2):
                self._start_worker(number)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for process in reversed(self._processes):
            process.end()
        self._processes.clear()

    @property
    def worker_pids(self) -> list[int]:
        """The processes of the workers, below which their executors run."""
        return [each.pid for each in self._processes[1:]]

    def kill_worker(self) -> None:
        """Kill the first worker and its executors."""
        self._processes.pop(1).kill()

    def add_worker(self) -> None:
        """Start another worker, such as for one that was killed."""
        self._start_worker(sum(1 for _ in self.folder.glob("work-*")))

    def _start_worker(self, number: int) -> None:
        work = self.folder / f"work-{number}"
        work.mkdir()
        worker = ["org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", "--webui-port", "0"]
        worker += ["--cores", "1", "--memory", "900m", "--work-dir", str(work), self.url]
        script = str(HOME / "bin" / "spark-class")
        self._start(script, worker, f"worker-{number}", "Successfully registered with master")

    def _start(self, script: str, arguments: Sequence[str], name: str, ready: str) -> None:
        self._processes.append(start(script, arguments, self.folder / f"{name}.log", ready, self._env))
