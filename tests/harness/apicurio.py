"""Apicurio Registry, an independent schema registry with Confluent's HTTP API, fetched and run for a while."""

from __future__ import annotations

import time
import urllib.request
from pathlib import Path
from types import TracebackType

from harness.fetch import Artifact, fetch_archive
from harness.java import java_command
from harness.ports import free_ports
from harness.process import POLL_S, Supervised
from harness.tools import JVM

APICURIO_VERSION = "3.0.9"
"""The newest that runs on Java 17."""
START_TIMEOUT_S = 120.0


def fetch_apicurio() -> Path:
    """Return the folder of the server; raises as `fetch_archive`."""
    artifact = Artifact("io.apicurio", "apicurio-registry-app", APICURIO_VERSION)
    return fetch_archive(f"apicurio-{APICURIO_VERSION}", artifact, "all")


class Apicurio:
    """A running registry that keeps everything in memory; `url` is where its form of Confluent's API is."""

    def __init__(self, folder: Path) -> None:
        home = fetch_apicurio()
        jar = next(iter([*home.glob("quarkus-run.jar"), *home.glob("*-runner.jar")]))
        port, management = free_ports(2)
        self.url = f"http://127.0.0.1:{port}/apis/ccompat/v7"
        settings = {
            "quarkus.http.host": "127.0.0.1",
            "quarkus.http.port": port,
            "quarkus.management.host": "127.0.0.1",
            "quarkus.management.port": management,
        }
        options = ["-Xmx512m", *JVM, *(f"-D{name}={value}" for name, value in settings.items())]
        self._command = [java_command(), *options, "-jar", str(jar)]
        self._folder = folder
        self._process: Supervised | None = None

    def __enter__(self) -> Apicurio:
        self._process = Supervised(self._command, self._folder / "apicurio.log", self._folder)
        deadline = time.monotonic() + START_TIMEOUT_S
        while not self._answers():
            if not self._process.running() or time.monotonic() > deadline:
                said = self._process.output()[-2000:]
                self._process.end()
                raise RuntimeError(f"Apicurio Registry did not start:\n{said}")
            time.sleep(POLL_S)
        return self

    def _answers(self) -> bool:
        try:
            urllib.request.urlopen(f"{self.url}/subjects", timeout=START_TIMEOUT_S).close()
        except OSError:
            return False
        return True

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.end()
