"""The benchmarks run, with every client: what they count and sum up is right, and everything is written down."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from bench import ROOT, tasks
from bench.figures import FIGURES
from bench.store import load

from harness.apache import ApacheKafka
from harness.tools import quick_java

pytestmark = [pytest.mark.integration, pytest.mark.apache, pytest.mark.spark, pytest.mark.slow]
PATIENCE_S = 1_200
"""Twenty minutes: some three on two idle processors, more than nine on busy ones."""
NAMES = list(dict.fromkeys(task.name for task in tasks.small()))
SAMPLE = ["poll", "send", "round-trip-async", "memory-arrow", "spark-copy"]
"""A task of each kind of measurement, with the clients of each kind."""


@pytest.mark.timeout(PATIENCE_S + 30)
@pytest.mark.parametrize(
    ("extent", "names"),
    [
        pytest.param("quick", ["memory"], id="quick"),
        pytest.param("small", SAMPLE, id="small"),
        pytest.param("small", [name for name in NAMES if name not in SAMPLE], id="rest", marks=pytest.mark.exhaustive),
    ],
)
def test_the_benchmarks_have_a_result_in_each_row(
    extent: str, names: list[str], apache_kafka: ApacheKafka, tmp_path: Path
) -> None:
    table = [task for task in getattr(tasks, extent)() if task.name in names]
    command = [sys.executable, "-m", "bench", f"--{extent}", "--bootstrap-servers", apache_kafka.bootstrap_servers]
    command += [option for name in names for option in ("--task", name)]
    done = subprocess.run(
        [*command, "--results", str(tmp_path)],
        cwd=ROOT,
        env=quick_java(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    failed = [line for line in done.stdout.splitlines() if " failed: " in line]
    assert done.returncode == 0, failed or (done.stdout + done.stderr)[-3000:]  # a wrong count or sum ends the run
    run = load(tmp_path / f"{extent}.json")
    wanted = [(task.name, topic.title, set(task.running)) for task in table for topic in task.topics]
    assert [(row.task, row.records, set(row.results)) for row in run.rows] == wanted
    for row in run.rows:
        assert not row.failures
        for client, results in row.results.items():
            for figure in FIGURES[row.measure]:
                assert figure.of(results[0]) > 0, (row.task, client)
    report = (tmp_path / f"{extent}.md").read_text()
    assert all(row.title in report for row in run.rows)
    assert "decode_batches, none" in report
    assert (tmp_path / f"{extent}.svg").read_text().startswith("<?xml")
