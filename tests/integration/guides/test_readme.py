"""The README's examples, run as they stand but for the broker's address and the folders."""

import pathlib
import re
import subprocess
import sys

import pytest

from harness.tools import quick_java
from kafka.broker import EmbeddedBroker

README = pathlib.Path(__file__).resolve().parents[3] / "README.md"
SECTION = r"^## ([^\n]+)\n(?:(?!^## ).)*?"
EXAMPLES = re.findall(SECTION + r"^```python\n(.*?)^```", README.read_text(), flags=re.MULTILINE | re.DOTALL)


def run(code: str, bootstrap_servers: str, folder: pathlib.Path, registry_url: str = "") -> str:
    code = code.replace("localhost:9092", bootstrap_servers).replace("/tmp/", f"{folder}/")
    code = code.replace("http://localhost:8081", registry_url)
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=quick_java(), capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def example(title: str) -> str:
    return dict(EXAMPLES)[title]


def test_every_example_is_run_here() -> None:
    assert [title for title, _ in EXAMPLES] == ["Produce and consume", "Spark"]


def test_the_client_example_works(tmp_path: pathlib.Path) -> None:
    with EmbeddedBroker(tmp_path / "broker") as broker:
        printed = run(example("Produce and consume"), broker.bootstrap_servers, tmp_path)
    assert "RecordMetadata(topic='events'" in printed
    assert printed.endswith("b'value 999'\n")
    assert len(printed.splitlines()) == 1002


def test_the_client_example_works_with_any_broker(broker, tmp_path: pathlib.Path) -> None:
    assert "b'value 999'" in run(example("Produce and consume"), broker.bootstrap_servers, tmp_path)


@pytest.mark.spark
def test_the_spark_example_works(broker, tmp_path: pathlib.Path) -> None:
    with EmbeddedBroker(registry=True) as beside:
        assert run(example("Spark"), broker.bootstrap_servers, tmp_path, beside.registry_url).strip().endswith("799")
