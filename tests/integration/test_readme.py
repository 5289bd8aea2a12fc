"""The README's examples, run as they stand but for the broker's address and the folders."""

import pathlib
import re
import subprocess
import sys
import uuid

import pytest

from kafka.broker import EmbeddedBroker

README = pathlib.Path(__file__).resolve().parents[2] / "README.md"
SECTION = r"^### ([^\n]+)\n(?:(?!^### ).)*?"
EXAMPLES = re.findall(SECTION + r"^```python\n(.*?)^```", README.read_text(), flags=re.MULTILINE | re.DOTALL)
COMMANDS = re.findall(SECTION + r"^```sh\n(.*?)^```", README.read_text(), flags=re.MULTILINE | re.DOTALL)
TESTS = ["Test against a broker", "Test against a broker that fails"]


def run(code: str, bootstrap_servers: str, folder: pathlib.Path, registry_url: str = "") -> str:
    code = code.replace("localhost:9092", bootstrap_servers).replace("/tmp/", f"{folder}/")
    code = code.replace("http://localhost:8081", registry_url)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def example(title: str) -> str:
    return dict(EXAMPLES)[title]


def test_every_example_is_run_here() -> None:
    assert [title for title, _ in EXAMPLES] == ["Produce", "Consume", "Read what is there", "Arrow", "Spark", *TESTS]


def test_the_command_line_that_the_readme_shows_works(broker, tmp_path: pathlib.Path) -> None:
    ((title, commands),) = COMMANDS
    assert title == "On the command line"
    kafka = f'kafka() {{ {sys.executable} -m kafka -b {broker.bootstrap_servers} "$@"; }}\nset -e\n'
    topic = f"orders-{uuid.uuid4().hex[:8]}"  # another test's may be there
    command = ["bash", "-c", kafka + re.sub(r"\borders\b(?!\.csv)", topic, commands)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == ["alice=1", "bob=2", f"{topic}: created"]
    assert len((tmp_path / "orders.csv").read_text().splitlines()) == 3


@pytest.mark.spark
def test_what_the_readme_shows_works(broker, tmp_path: pathlib.Path) -> None:
    servers = broker.bootstrap_servers
    assert "RecordMetadata(topic='events'" in run(example("Produce"), servers, tmp_path)
    assert "b'value 99999'" in run(example("Consume"), servers, tmp_path)
    snapshot = run(example("Read what is there"), servers, tmp_path)
    assert re.search(r"^0 +100001$", snapshot, flags=re.MULTILINE)
    assert snapshot.endswith("b'value 99999'\n")
    assert "['topic', 'partition', 'offset', 'timestamp'" in run(example("Arrow"), servers, tmp_path)
    with EmbeddedBroker(registry=True) as beside:
        assert run(example("Spark"), servers, tmp_path, beside.registry_url).strip().endswith("799")


@pytest.mark.parametrize("title", TESTS)
def test_the_tests_that_the_readme_shows_pass(tmp_path: pathlib.Path, title: str) -> None:
    file = tmp_path / "test_orders.py"
    file.write_text(example(title))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(file)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
