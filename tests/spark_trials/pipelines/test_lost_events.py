"""A driver is killed between Spark's commit of a micro-batch and the writing of its event: no count is lost.

`KILLED_AT` names the moments. The pipeline then runs to its end, and the sums of its events, its status and its audit
must be those of all records.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kafka import KafkaAdminClient, KafkaProducer
from kafka.admin import NewTopic
from kafka.broker import EmbeddedBroker
from kafka.pipelines.audit.micro_batches import micro_batches, without_event
from kafka.pipelines.directories import directory_of
from kafka.pipelines.events import read_events
from kafka.pipelines.run_history import history
from kafka.pipelines.status import status_of
from kafka.pipelines.yaml_file import parse

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(900)]

RECORDS = 600
KILLED_AT = ("before", "within", "after")
"""Before the event of a micro-batch is written, within its line, and after it."""
PROGRAM = """
import os, signal, sys
from pathlib import Path
from kafka.pipelines.events import EventFile, to_json
from kafka.pipelines.run import run
from kafka.pipelines.yaml_file import parse
from kafka.pipelines.audit.pipeline_audit import audit_pipeline

declaration, moment, number = parse(Path(sys.argv[1]).read_text()), sys.argv[2], int(sys.argv[3])
append = EventFile.append


def kill(file, event):
    if event.kind != "batch" or event.recovered or event.batch != number:
        return append(file, event)
    if moment == "within":
        with file.path.open("a") as lines:
            lines.write(to_json(event)[:70])
    if moment == "after":
        append(file, event)
    os.kill(os.getpid(), signal.SIGKILL)


EventFile.append = kill
run(declaration)
result = audit_pipeline(declaration)
print("AUDIT", result.balances, result.total.records, *result.faults, *result.notes, sep="|")
"""


def driver(folder: Path, moment: str, number: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(folder / "program.py"), str(folder / "pipeline.yaml"), moment, str(number)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)


def totals_of(declaration: Any) -> Any:
    return history(read_events(directory_of(declaration).events)).totals["stream"]


def test_no_count_is_lost(tmp_path: Path) -> None:
    with EmbeddedBroker() as broker:
        servers = broker.bootstrap_servers
        with KafkaAdminClient(bootstrap_servers=servers) as admin:
            admin.create_topics([NewTopic(name, num_partitions=2) for name in ("source", "sink", "dead")])
        with KafkaProducer(bootstrap_servers=servers) as producer:
            for number in range(RECORDS):
                value = b"broken" if number % 10 == 0 else json.dumps({"id": number}).encode()
                producer.send("source", value, partition=number % 2)
        text = f"""
pipeline: lost-events
kafka: {{bootstrap.servers: "{servers}"}}
checkpoint: {tmp_path}/checkpoint
source: {{topic: source, max_offsets_per_trigger: 100, value: {{format: json, schema: "id int"}}}}
rules:
  - {{name: id is not 7, holds: id <> 7, otherwise: drop}}
query: select id from source where id % 2 = 0
sink: {{topic: sink}}
dead_letters: {{topic: dead}}
"""
        (tmp_path / "pipeline.yaml").write_text(text)
        (tmp_path / "program.py").write_text(PROGRAM)
        declaration = parse(text)
        for number, moment in enumerate(KILLED_AT):
            killed = driver(tmp_path, moment, number)
            assert killed.returncode == -signal.SIGKILL, killed.stderr[-3000:]
            missing = without_event(micro_batches(directory_of(declaration)))
            assert missing == ([] if moment == "after" else [number])
        ended = driver(tmp_path, "never", -1)
        assert ended.returncode == 0, ended.stderr[-3000:]
        assert without_event(micro_batches(directory_of(declaration))) == []
        assert [each.batch for each in read_events(directory_of(declaration).events) if each.recovered] == [0, 1]
        totals = totals_of(declaration)
        good = [number for number in range(RECORDS) if number % 10 and number % 2 == 0]
        assert (totals.rows, totals.dead, totals.dropped, totals.out) == (RECORDS, RECORDS // 10, 1, len(good))
        assert totals.rules == {"decodes": RECORDS // 10, "id is not 7": 1}
        status = status_of(declaration)
        assert (status.totals.rows, status.sources[0].rows, status.sources[0].lag) == (RECORDS, RECORDS, 0)
        (line,) = [each for each in ended.stdout.splitlines() if each.startswith("AUDIT|")]
        assert line.startswith(f"AUDIT|True|{RECORDS}|the counts of micro-batch 0, micro-batch 1 were computed again")
