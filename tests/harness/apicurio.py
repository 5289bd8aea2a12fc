"""Apicurio Registry, a schema registry of its own making with Confluent's HTTP API, fetched and run for a while."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
import time
import urllib.request
from pathlib import Path
from types import TracebackType

from harness.cache import build_once, cache_folder
from harness.fetch import PATIENCE_S, FetchError
from harness.java import java_command
from harness.ports import free_ports
from harness.process import POLL_S, Supervised
from harness.tools import JVM

APICURIO_VERSION = "3.0.9"
"""The newest that runs on Java 17."""
START_TIMEOUT_S = 120.0


def fetch_apicurio() -> Path:
    """Return the folder of the server, fetched with Maven if it is not there.

    Raises:
        FetchError: it could not be fetched.
    """

    def make(folder: Path) -> None:
        maven = shutil.which("mvn")
        if maven is None:
            raise FetchError("Apicurio Registry is fetched with mvn, which is not installed: apt-get install maven")
        artifact = f"io.apicurio:apicurio-registry-app:{APICURIO_VERSION}:tar.gz:all"
        command = [maven, "-q", "-B", "-Dstyle.color=never", "dependency:copy", f"-Dartifact={artifact}"]
        if not os.access(os.path.expanduser("~"), os.W_OK | os.X_OK):
            command.append(f"-Dmaven.repo.local={cache_folder() / 'm2'}")
        done = subprocess.run(
            [*command, f"-DoutputDirectory={folder}"],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        archives = list(folder.glob("*-all.tar.gz"))
        if done.returncode or not archives:
            said = (done.stdout + done.stderr).strip()[-2000:]
            raise FetchError(f"mvn could not fetch Apicurio Registry (exit status {done.returncode}):\n{said}")
        with tarfile.open(archives[0]) as archive:
            archive.extractall(folder, filter="data")
        archives[0].unlink()

    return build_once(cache_folder() / "jars" / f"apicurio-{APICURIO_VERSION}", make)


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
