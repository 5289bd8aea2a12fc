"""Kafka's own Java tools, run on any broker: neutral judges of what our clients and our broker do."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from harness.fetch import KAFKA_VERSION, fetch_kafka
from harness.java import java_command

TOOL_TIMEOUT_S = 180.0
JVM = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xlog:disable", "-Xlog:all=error:stderr")
"""For a JVM whose short life is spent on starting: the optimising compiler would not earn back what it takes."""


def quick_java() -> dict[str, str]:
    """Return an environment in which JVMs start quickly, for a program that starts its own: with Spark, say."""
    return {**os.environ, "JAVA_TOOL_OPTIONS": " ".join(JVM)}


class JavaTools:
    """The Java classes of one version of Kafka, fetched when this is made.

    Raises:
        FetchError: they could not be fetched.
        JavaError: there is no Java 17.
    """

    def __init__(self, version: str = KAFKA_VERSION) -> None:
        self.version = version
        self.java = java_command()
        self.libs = fetch_kafka(version)
        self.home = self.libs.parent

    def command(self, options: Sequence[str], main: str, *arguments: str, plugins: Sequence[Path] = ()) -> list[str]:
        """A Java command line with this version's jars, named one by one as an archive of classes demands.

        Arguments:
            plugins: folders of classes besides.
        """
        jars = ":".join([*sorted(map(str, self.libs.glob("*.jar"))), *map(str, plugins)])
        return [self.java, *options, "-cp", jars, main, *arguments]

    def run(
        self, main: str, *arguments: str, stdin: str | bytes = "", timeout_s: float = TOOL_TIMEOUT_S, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Run a Java class, such as `org.apache.kafka.tools.TopicCommand`, and return what it printed.

        Raises:
            RuntimeError: it failed (and `check`); the message has the end of its output.
        """
        data = stdin.encode() if isinstance(stdin, str) else stdin
        archive = self._archive(main)
        new = archive.with_suffix(f".{os.getpid()}")
        classes = f"-XX:SharedArchiveFile={archive}" if archive.exists() else f"-XX:ArchiveClassesAtExit={new}"
        command = self.command(["-Xmx256m", *JVM, classes, "-Dorg.apache.logging.log4j.level=ERROR"], main, *arguments)
        done = subprocess.run(command, input=data, capture_output=True, timeout=timeout_s, check=False)
        if new.exists():
            new.replace(archive)
        out, error = done.stdout.decode(errors="surrogateescape"), done.stderr.decode(errors="replace")
        if check and done.returncode:
            raise RuntimeError(f"{main} {' '.join(arguments)} failed:\n{out[-1500:]}{error[-1500:]}")
        return subprocess.CompletedProcess(command, done.returncode, out, error)

    def _archive(self, main: str) -> Path:
        """The archive of loaded classes that halves what starting a tool costs; its first run makes it."""
        mark = hashlib.sha256(repr((self.java, JVM, main)).encode()).hexdigest()[:8]
        return self.home / f"classes-{mark}.jsa"
