"""The demo, from end to end, on the embedded broker and on Apache Kafka, as a user runs it."""

import pathlib
import subprocess
import sys

import pyarrow.dataset
import pytest

pytestmark = pytest.mark.spark
FLIGHTS = 20_000


def demo(*arguments: str, cwd: pathlib.Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "kafka", "demo", "--flights", str(FLIGHTS), *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300, check=False)


def rows(folder: pathlib.Path) -> int:
    count: int = pyarrow.dataset.dataset(folder / "flight_delays.parquet", format="parquet").count_rows()
    return count


def test_the_demo_runs_on_a_broker_of_its_own(tmp_path: pathlib.Path) -> None:
    done = demo(cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "exactly what pandas computes" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    assert rows(tmp_path / "demo-output") > 1_000


@pytest.mark.apache
def test_the_demo_runs_again_on_a_cluster_that_has_its_topics_already(
    apache_kafka: object, tmp_path: pathlib.Path
) -> None:
    servers = str(apache_kafka.bootstrap_servers)  # type: ignore[attr-defined]
    for _ in range(2):
        done = demo("--bootstrap-servers", servers, "--output", "out", cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "exactly what pandas computes" in done.stdout


def test_a_cluster_that_cannot_be_reached_is_one_line(tmp_path: pathlib.Path) -> None:
    command = [sys.executable, "-m", "kafka", "demo", "--bootstrap-servers", "127.0.0.1:1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 3
    assert "127.0.0.1:1" in done.stderr
    assert "Traceback" not in done.stderr
