"""A plug-in for Apache Kafka that gets clients' metrics (KIP-714) and keeps each push in a file.

A broker offers the two APIs only where a metrics reporter implements ``ClientTelemetry``, which takes a class in Java.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple

from harness.cache import build_once
from harness.tools import JavaTools

CLASS = "KeepsPushedMetrics"
FOLDER_PROPERTY = "pushed.metrics.folder"
_SOURCE = """
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.metrics.*;
import org.apache.kafka.server.telemetry.*;

public class KeepsPushedMetrics implements MetricsReporter, ClientTelemetry {
    private final AtomicInteger count = new AtomicInteger();

    public void configure(Map<String, ?> configs) { }
    public void init(List<KafkaMetric> metrics) { }
    public void metricChange(KafkaMetric metric) { }
    public void metricRemoval(KafkaMetric metric) { }
    public void close() { }

    public ClientTelemetryReceiver clientReceiver() {
        return (context, payload) -> {
            byte[] data = new byte[payload.data().remaining()];
            payload.data().duplicate().get(data);
            String name = String.format("%06d_%s_%s%s", count.incrementAndGet(), context.clientId(),
                payload.clientInstanceId(), payload.isTerminating() ? "_last" : "");
            Path folder = Path.of(System.getProperty("pushed.metrics.folder"));
            try {
                Path part = Files.write(folder.resolve(name + ".part"), data);
                Files.move(part, folder.resolve(name + ".otlp"), StandardCopyOption.ATOMIC_MOVE);
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
        };
    }
}
"""


class NoCompilerError(RuntimeError):
    """This Java has no compiler: it is a JRE, not a JDK."""


class Push(NamedTuple):
    """What a client has pushed: its id, its instance id as Kafka writes it, whether it was the last, and what."""

    client_id: str
    instance_id: str
    terminating: bool
    metrics: bytes


def compiled_plugin(tools: JavaTools) -> Path:
    """The folder with the class, compiled for a release of Kafka; raises `NoCompilerError`."""

    def make(folder: Path) -> None:
        source = folder / f"{CLASS}.java"
        source.write_text(_SOURCE)
        jars = ":".join(map(str, sorted(tools.libs.glob("*.jar"))))
        compiler = [tools.java, "-Xmx256m", "-m", "jdk.compiler/com.sun.tools.javac.Main", "-nowarn"]
        command = [*compiler, "-cp", jars, "-d", str(folder), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        if "jdk.compiler not found" in done.stderr + done.stdout:
            raise NoCompilerError(f"{tools.java} cannot compile a class: install a JDK, not a JRE alone")
        if done.returncode:
            raise RuntimeError(f"{source.name} does not compile: {done.stdout[-1000:]}{done.stderr[-1000:]}")

    return build_once(tools.home / "pushed-metrics-1", make)


def pushed(folder: Path) -> list[Push]:
    """What clients have pushed so far, in its order."""
    found = []
    for file in sorted(folder.glob("*.otlp")):
        _, client_id, *rest = file.stem.split("_")
        terminating = rest[-1] == "last"
        instance_id = "_".join(rest[: -1 if terminating else None])  # which may have "_" in it
        found.append(Push(client_id, instance_id, terminating, file.read_bytes()))
    return found
