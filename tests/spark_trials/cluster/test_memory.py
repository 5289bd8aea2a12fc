"""Many rows through two small executors: their memory is what it was after a tenth of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from bench.spark_usage import descendants

from harness.apache import ApacheKafka
from harness.spark_cluster import SMALL_JVM, Standalone
from harness.topics import create_topic
from kafka import KafkaProducer

from .trial_support import CLUSTER

PROGRAM = Path(__file__).with_name("memory_program.py")
ROWS = int(os.environ.get("KAFKA_MEMORY_ROWS", "50000000"))
PARTITIONS = 4
ROWS_TOGETHER = 250_000
HEAP_MB = 512
GROWTH_MB = {"java": 48, "python": 24}
"""How much more a process may take at its most, after all rows, than after a tenth of them: the garbage of a JVM's
compiler, and pages that one of the Arrow batches in flight happened to need."""


@pytest.fixture(scope="module")
def kafka(tmp_path_factory) -> Iterator[ApacheKafka]:
    with ApacheKafka(tmp_path_factory.mktemp("kafka"), full_jit=True) as running:
        yield running


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> Iterator[Standalone]:
    with Standalone(tmp_path_factory.mktemp("standalone")) as running:
        yield running


def fill(servers: str, topic: str) -> None:
    """Write numbered records of some ten bytes, in turn over the partitions."""
    create_topic(servers, topic, PARTITIONS)
    with KafkaProducer(bootstrap_servers=servers, compression_type="lz4", linger_ms=20) as producer:
        for number, first in enumerate(range(0, ROWS, ROWS_TOGETHER)):
            values = pc.cast(pa.array(range(first, min(first + ROWS_TOGETHER, ROWS))), pa.string()).cast(pa.binary())
            where = pa.repeat(pa.scalar(number % PARTITIONS, pa.int32()), len(values))
            producer.send_arrow(topic, pa.table({"value": values, "partition": where})).get(300)


def peaks_mb(roots: list[int]) -> dict[str, int]:
    """The largest resident memory that a JVM of an executor and a Python process of a task have had, in MB."""
    found: dict[str, int] = {}
    for pid in (each for root in roots for each in descendants(root) if each != root):
        try:
            lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        except OSError:  # it ended meanwhile
            continue
        status = dict(line.split(":", 1) for line in lines if ":" in line)
        name = "python" if status["Name"].strip().startswith("python") else status["Name"].strip()
        if name in GROWTH_MB and "VmHWM" in status:
            found[name] = max(found.get(name, 0), int(status["VmHWM"].split()[0]) // 1024)
    return found


@pytest.mark.timeout(3_000)
def test_memory_is_flat(kafka, cluster, tmp_path, capsys):
    fill(kafka.bootstrap_servers, "many")
    # The whole heap is resident from the start, so that what is added later is not its filling up.
    jvm = f"{SMALL_JVM} -Xms{HEAP_MB}m -XX:+AlwaysPreTouch"
    settings = {**CLUSTER, "spark.master": cluster.url, "spark.executor.memory": f"{HEAP_MB}m"}
    settings["spark.executor.extraJavaOptions"] = jvm
    options = {"kafka.bootstrap.servers": kafka.bootstrap_servers, "subscribe": "many"}
    tenth = json.dumps({"many": {str(number): ROWS // PARTITIONS // 10 for number in range(PARTITIONS)}})
    environment = {**os.environ, "PYTHONWARNINGS": "ignore", "PYSPARK_PYTHON": sys.executable}
    seen, peaks = [], []
    with (
        (tmp_path / "program.log").open("w") as errors,
        subprocess.Popen(
            [sys.executable, str(PROGRAM), json.dumps(settings)],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as driver,
    ):
        assert driver.stdin is not None
        assert driver.stdout is not None
        for more in ({"endingOffsets": tenth}, {}):
            driver.stdin.write(json.dumps({**options, **more}) + "\n")
            driver.stdin.flush()
            line = driver.stdout.readline()
            assert line, (tmp_path / "program.log").read_text()[-3_000:]
            seen.append(json.loads(line)["rows"])
            peaks.append(peaks_mb(cluster.worker_pids))
        driver.stdin.close()
    with capsys.disabled():
        print("\nrows:", seen, "largest MB of a process:", peaks)
    assert seen == [ROWS // 10, ROWS]
    early, late = peaks
    assert early.keys() == late.keys() == GROWTH_MB.keys()
    grown = {name: late[name] - early[name] for name in late}
    assert not [name for name in grown if grown[name] > GROWTH_MB[name]], (early, late)
