"""The programs of the guides run as they stand but for the broker's address and folders, in their order."""

from __future__ import annotations

import re
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from conftest import missing
from harness.frameworks import frameworks_environment
from harness.pins import PinsError
from harness.tools import quick_java
from kafka.broker import EmbeddedBroker
from kafka.record import arrow_schema

DOCS = Path(__file__).resolve().parents[3] / "docs"
GUIDES = {
    "START.md": ["RecordMetadata(topic='orders'", "1001 records\nthe last: ", "b'997 pears'", ": 0}"],
    "GROUPS.md": [
        "100 done",
        "giving up []\ngot [0]\ngiving up [0]\n",
        "partition=0): {'error': <class 'kafka.errors.NoError'>, 'offset': 0}}\nnow 0",
        "{0: 10}\n{0: 90}\njobs 0 committed 10\n",
    ],
    "DELIVERY.md": [
        "0 failed",
        "10 dropped\ndropped by purge() before it was sent\nthe first offset is 0\n",
        "sum 499500",
        "[(2, b'in a new partition')]",
        "[{'a': 1}]",
        "143 found, the first at 0 3 ",
        "0 records of that hour",
        "offset=0",
    ],
    "ARROW.md": [
        "ArrowResult(",
        "10000 rows, ['topic', 'partition'",
        "10000 rows, 0 offsets were deleted",
        "10000 rows, the largest value has",
        "10 sensors",
        "34",
        "sent 10 rows of DuckDB",
        "rows of Delta Lake",
        "rows of Iceberg",
        "10000 rows in the file",
        "100000/100000",
    ],
    "FORMATS.md": [
        "14 bytes\n{'id': 7, 'customer': 'alice', 'at': datetime.datetime(2026, 5, 1, 0, 0, tzinfo=datetime.timezone.",
        "{'id': 7, 'currency': 'EUR'}\n",
        "At items[1].price: expected a float, got '2' (str)\nAt items[1].price, byte 9: the data end within a value\n",
        "3 values of binary\nstruct<id: int64, customer: string>\n[BadValue(row=3, schema_id=None, cause='id: expect",
        "[{'year': 2013, 'carrier': 'UA', 'dep_delay': 2.0}, None, None]\nBadValue(row=1, schema_id=None, cause='year:",
        "struct<id: double, at: timestamp[us, tz=UTC], tags: list<item: string>>\n",
        "7 alice\n{'id': 7, 'customer': 'alice', 'lines': [], 'kind': 'GIFT'}\nBadValue(row=1, sch",
        "[{'key': 1, 'value': {'carrier': 'UA', 'dep_delay': 2.0}}, {'key': 2, 'value': {'carrier': 'AA',",
    ],
    "SCHEMA_REGISTRY.md": [
        "1\n2\n[1, 2] 2\n{errorType:'READER_FIELD_MISSING_DEFAULT_VALUE'",
        "{'id': 'a-1', 'amount': 3}\n['orders-value']\n",
        "{'id': 'a-1', 'lines': [{'price': 2.5}]}\nsubject 'orders-value', schema id 1: At lines[1].price: '3' is not",
        "b'\\x00\\x00\\x00\\x00\\x01\\x00\\n\\x03a-1\\x10\\x03' 3\nsyntax = \"proto3\";\n\nmessage Order {\n",
        "[7, 8, 9, None] [{'id': 1, 'customer': 'alice'}, {'id': 2, 'customer': None}, {'id': 3, 'cust",
        "1 1\n[':.dev:orders-value', 'orders-value'] [':.dev:orders-value'] ['.', '.dev']\nOrder\nTrial\nTrial\n",
    ],
    "LOGGING.md": ['"kafka_group_id": "json-lines"', '"kafka_group_id": "structured"'],
    "TUNING.md": ["read 40000"],
    "DEPLOYMENT.md": ["closed", "HEALTHY", "1"],
}
"""By guide: what each of its programs prints, among other things."""

KINDS = {
    "string": "text",
    "int32": "int32",
    "int64": "int64",
    "timestamp[ms, tz=UTC]": "timestamp, milliseconds, UTC",
    "binary": "binary",
    "list<item: struct<key: string, value: binary>>": "list of structs of `key` (text) and `value` (binary)",
}
"""By Arrow's name of a type: what the guide calls it."""


BESIDE = re.compile(r"^(import|from) (duckdb|deltalake|pyiceberg|structlog)", re.MULTILINE)
"""What a program imports that is not installed with the tests."""


def beside() -> dict[str, str]:
    """An environment that has it."""
    try:
        return frameworks_environment()
    except PinsError as error:
        missing(str(error))
        raise


COMMANDS = {"START.md": 3, "DELIVERY.md": 1}
"""How many blocks of commands a guide has, but those that install the package and start a broker."""


def blocks(guide: str) -> list[tuple[str, str]]:
    """The programs and the commands of a guide in their order, with "python" or "sh" before each."""
    text = (DOCS / guide).read_text(encoding="utf-8")
    found = re.findall(r"^```(python|sh)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [(kind, code) for kind, code in found if not re.search(r"^(pip install|kafka broker)", code, re.MULTILINE)]


def programs(guide: str) -> list[str]:
    return [code for kind, code in blocks(guide) if kind == "python"]


def run(kind: str, code: str, servers: str, folder: Path) -> str:
    """What a program or commands print; the broker is another, and files are in the folder."""
    code = code.replace("localhost:9092", servers).replace("/tmp/", f"{folder}/")
    if kind == "sh":
        kafka = f'kafka() {{ {sys.executable} -m kafka -b {servers} "$@"; }}\nset -e\n'
        command = ["bash", "-c", kafka + code]
    else:
        command = [sys.executable, "-W", "error", "-c", code]
    environment = None
    if kind == "python" and BESIDE.search(code):  # what these warn of is their own business
        environment, command[2] = beside(), "default"
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("guide", GUIDES)
def test_the_programs_of_a_guide_run(guide: str, tmp_path: Path) -> None:
    expected = GUIDES[guide]
    assert len(programs(guide)) == len(expected)
    assert len(blocks(guide)) == len(expected) + COMMANDS.get(guide, 0)
    left = iter(expected)
    with EmbeddedBroker(tmp_path / "broker", group_initial_rebalance_delay_ms=0) as broker:
        for kind, code in blocks(guide):
            printed = run(kind, code, broker.bootstrap_servers, tmp_path)
            assert kind == "sh" or next(left) in printed, printed


def test_the_first_reader_may_be_run_again(tmp_path: Path) -> None:
    with EmbeddedBroker(tmp_path / "broker", group_initial_rebalance_delay_ms=0) as broker:
        (create, send, read), servers = blocks("START.md")[:3], broker.bootstrap_servers
        printed = [run(*each, servers, tmp_path) for each in (create, create, send, read, read)]
    assert printed[-1] == "0 records\n"


def test_the_command_line_of_the_first_guide_works(broker, tmp_path: Path) -> None:
    kind, commands = blocks("START.md")[-1]
    topic = f"orders-{uuid.uuid4().hex[:8]}"  # the broker may have another test's
    commands = re.sub(r"\borders\b(?!\.csv)", topic, commands)
    printed = run(kind, commands, broker.bootstrap_servers, tmp_path)
    assert sorted(printed.splitlines()) == ["alice=1", "bob=2", f"{topic}: created"]
    assert len((tmp_path / "orders.csv").read_text().splitlines()) == 3


def test_the_tests_that_the_guide_shows_pass(tmp_path: Path) -> None:
    folder = tmp_path / "before"  # what comes before the guide's conftest.py knows nothing of it
    folder.mkdir()
    for number, program in enumerate(programs("TESTING.md")):
        name = f"test_{number}.py"
        if program.startswith("# conftest.py"):
            folder, name = tmp_path / "after", "conftest.py"
            folder.mkdir()
        (folder / name).write_text(program)
    (tmp_path / "pytest.ini").write_text("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "6 passed" in done.stdout


@pytest.mark.spark
@pytest.mark.timeout(600)  # a JVM and its Python processes start
@pytest.mark.parametrize(
    ("start", "printed"),
    [
        ('spark = session("flights")', "1000 rows\n"),
        ('spark = session("orders")', "100 orders\n"),
        ('spark = session("trips")', "lag: {'loud-trips': 0}\n1000 rows\n"),
    ],
    ids=["the first", "typed", "exactly once"],
)
def test_a_whole_program_of_spark_runs_on_an_empty_broker(start: str, printed: str, tmp_path: Path) -> None:
    (program,) = [each for each in programs("SPARK.md") if start in each]
    with EmbeddedBroker(tmp_path / "broker") as broker:
        code = program.replace("localhost:9092", broker.bootstrap_servers)
        command = [sys.executable, "-c", code.replace("/tmp/", f"{tmp_path}/")]
        done = subprocess.run(
            command, cwd=tmp_path, env=quick_java(), capture_output=True, text=True, timeout=540, check=False
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(printed), done.stdout


def test_the_columns_that_the_guide_names_have_those_types() -> None:
    text = (DOCS / "ARROW.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| (`[^|]+) \| ([^|]+) \|$", text, re.MULTILINE))
    schema = arrow_schema()
    assert [name for names in told for name in re.findall(r"`(\w+)`", names)] == schema.names
    for names, kind in told.items():
        for name in re.findall(r"`(\w+)`", names):
            assert kind.startswith(KINDS[str(schema.field(name).type)]), name


def test_the_guide_names_the_fields_that_log_records_have() -> None:
    told = re.findall(r"^\| `(kafka_\w+)` \|", (DOCS / "LOGGING.md").read_text(encoding="utf-8"), re.MULTILINE)
    package = DOCS.parent / "src" / "kafka"
    names_metrics = package / "pipelines" / "metrics.py"
    source = "".join(path.read_text(encoding="utf-8") for path in package.rglob("*.py") if path != names_metrics)
    assert set(told) == set(re.findall(r'"(kafka_[a-z_]+)":', source))
