"""Kafka's own Java client, by the performance tools that come with it. They count records, and keep no sums of them."""

from __future__ import annotations

import csv
import re
import resource
import subprocess
import tempfile
import uuid
from pathlib import Path

from bench.job import BATCH_BYTES, LINGER_MS, PATIENCE_S, Job, Watch
from bench.workload import make_records
from harness.fetch import KAFKA_VERSION
from harness.tools import JavaTools

VERSION = KAFKA_VERSION
OPTIONS = ("-Xmx512m", "-Xlog:disable", "-Xlog:all=error:stderr")
POLL_RECORDS = 2_000
PAYLOADS = 10_000
"""How many values the producer draws from: it reads them from a file, line by line."""
STEADY = re.compile(r"^(\d+) steady state records sent, ([\d.]+) records/sec", re.MULTILINE)
SENT = re.compile(r"^(\d+) records sent, ", re.MULTILINE)
WARM_UP_SHARE = 5
"""One in this many records is warm-up, which the tool excludes from its rate."""


def poll(job: Job, watch: Watch) -> None:
    """`ConsumerPerformance`; its rate is without starting and joining the group."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder, "consumer.properties")
        settings.write_text(f"auto.offset.reset=earliest\nenable.auto.commit=false\nmax.poll.records={POLL_RECORDS}\n")
        arguments = [f"--topic={job.topic}", f"--num-records={job.count}"]
        arguments += [f"--group=bench-{uuid.uuid4()}", f"--command-config={settings}"]
        said = _run(job, "ConsumerPerformance", arguments, watch)
    columns = dict(zip(*(list(map(str.strip, line)) for line in csv.reader(said.splitlines()[-2:])), strict=True))
    count, rate = int(columns["data.consumed.in.nMsg"]), float(columns["fetch.nMsg.sec"])
    watch.sums.count = count
    watch.measured(count, count / rate)


poll_arrow = poll


def send(job: Job, watch: Watch) -> None:
    """`ProducerPerformance`; its rate is that after its warm-up."""
    _, values = make_records(min(job.count, PAYLOADS), job.size)
    with tempfile.TemporaryDirectory() as folder:
        payloads = Path(folder, "payloads")
        payloads.write_bytes(b"\n".join(values))
        arguments = [f"--topic={job.topic}", f"--num-records={job.count}", f"--payload-file={payloads}"]
        arguments += ["--throughput=-1", f"--warmup-records={job.count // WARM_UP_SHARE}", "--command-property"]
        arguments += [
            f"linger.ms={LINGER_MS}",
            f"batch.size={BATCH_BYTES}",
            "buffer.memory=268435456",
            "max.request.size=16777216",
            f"compression.type={job.codec}",
            "acks=all",
        ]
        said = _run(job, "ProducerPerformance", arguments, watch)
    sent, steady = SENT.findall(said), STEADY.search(said)  # it counts every five seconds, and all in the end
    if not sent or steady is None:
        raise RuntimeError(f"ProducerPerformance told no rate but {said[-300:]!r}")
    watch.sums.count = int(sent[-1])
    watch.measured(int(steady[1]), int(steady[1]) / float(steady[2]))


send_arrow = send


def _run(job: Job, tool: str, arguments: list[str], watch: Watch) -> str:
    """Run a tool, return its output, and report the JVM's CPU time and memory to the watch."""
    main = f"org.apache.kafka.tools.{tool}"
    command = JavaTools().command(OPTIONS, main, "--bootstrap-server", job.bootstrap_servers, *arguments)
    done = subprocess.run(command, capture_output=True, text=True, timeout=2 * PATIENCE_S, check=False)
    if done.returncode:
        raise RuntimeError(f"{tool} failed: {(done.stderr or done.stdout)[-300:]!r}")
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    watch.used(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
    return done.stdout
