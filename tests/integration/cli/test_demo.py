"""The demo, from end to end, on the embedded broker and on Apache Kafka, as a user runs it."""

import io
import os
import pathlib
import re
import subprocess
import sys

import pyarrow.dataset
import pytest
from PIL import Image

from harness.chromium import open_page
from harness.tools import JVM
from kafka.cli.demo.flights import read_flights
from kafka.cli.demo.ingest import create_topics, send_flights

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]
FLIGHTS = 20_000

Run = tuple[subprocess.CompletedProcess[str], pathlib.Path]


def demo(*arguments: str, cwd: pathlib.Path) -> subprocess.CompletedProcess[str]:
    """Run the demo; its two JVMs are made to start quickly."""
    command = [sys.executable, "-m", "kafka", "demo", "--flights", str(FLIGHTS), *arguments]
    env = {**os.environ, "JAVA_TOOL_OPTIONS": " ".join(JVM)}
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=600, check=False, env=env)


def rows(folder: pathlib.Path) -> int:
    count: int = pyarrow.dataset.dataset(folder / "flight_delays.parquet", format="parquet").count_rows()
    return count


def assert_told(done: subprocess.CompletedProcess[str]) -> None:
    """The driver was killed and another went on, and each row is there once."""
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    told = re.search(r"Killed the driver \(kill -9\) .*, after ([\d,]+) of 20,004 records", done.stdout)
    assert told is not None, done.stdout
    assert 0 < int(told[1].replace(",", "")) < FLIGHTS
    assert "Restarted" in done.stdout
    assert "Final group lag: flight-delays 0, flight-delays-parquet 0." in done.stdout
    assert "match the results of pandas exactly, each row once" in done.stdout


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run on a broker of the demo's own, and its folder."""
    folder = tmp_path_factory.mktemp("demo")
    return demo(cwd=folder), folder / "demo-output"


def test_the_demo_runs_on_a_broker_of_its_own(run: Run) -> None:
    done, output = run
    assert_told(done)
    assert rows(output) > 1_000
    assert done.stdout.splitlines()[-1] == f"Report: {output / 'report.html'}"


def test_a_browser_shows_the_report_of_a_run(chromium: pathlib.Path, run: Run) -> None:
    report = (run[1] / "report.html").as_uri()
    page = open_page(chromium, report, height=1_600)
    assert page.errors == []
    assert page.requests == [report]
    for text in ("20,000 flights", "La Guardia", "flight delays to the topic", "flight delays to Parquet", "killed"):
        assert text in page.text
    colours = Image.open(io.BytesIO(page.screenshot)).convert("RGB").getcolors(1 << 24) or []
    found = {colour: count for count, colour in colours}
    assert all(found.get(line, 0) >= 50 for line in [(31, 111, 196), (194, 65, 12), (15, 118, 110)])


@pytest.mark.exhaustive  # the run above takes the same steps, on a broker of its own
@pytest.mark.apache
def test_the_demo_runs_on_a_cluster_that_has_its_topics_already(apache_kafka: object, tmp_path: pathlib.Path) -> None:
    servers = str(apache_kafka.bootstrap_servers)  # type: ignore[attr-defined]
    create_topics(servers)
    send_flights(servers, read_flights(100).flights)
    done = demo("--bootstrap-servers", servers, "--output", "out", "--no-report", cwd=tmp_path)
    assert_told(done)
    assert not list(tmp_path.rglob("*.html"))


def test_a_cluster_that_cannot_be_reached_is_one_line(tmp_path: pathlib.Path) -> None:
    command = [sys.executable, "-m", "kafka", "demo", "--bootstrap-servers", "127.0.0.1:1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 3
    assert "127.0.0.1:1" in done.stderr
    assert "Traceback" not in done.stderr
