"""Old classes: programs print no warnings by default, and with ``-W`` warnings show the lines that create them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kafka import SimpleClient
from kafka.broker import EmbeddedBroker

pytestmark = [pytest.mark.once, pytest.mark.filterwarnings("ignore:.* is deprecated:DeprecationWarning")]

PROGRAM = """\
import sys
from kafka import KafkaClient, KeyedProducer, MultiProcessConsumer, SimpleClient, SimpleConsumer, SimpleProducer
servers = sys.argv[1]
client = SimpleClient(servers)
KafkaClient(servers).close()
SimpleProducer(client).send_messages("topic", b"1")
KeyedProducer(client).send_messages("topic", b"key", b"2")
SimpleConsumer(client, "group", "topic").stop()
processes = MultiProcessConsumer(client, "group", "topic", auto_offset_reset="smallest")
assert processes.get_messages(1, timeout=None)
processes.stop()
class Own(SimpleConsumer):
    def __init__(self):
        super().__init__(client, "group", "topic")
Own().stop()
client.close()
"""
TOLD = {
    4: "SimpleClient is deprecated: use KafkaProducer, KafkaConsumer and KafkaAdminClient",
    5: "KafkaClient with hosts is kafka.SimpleClient today",
    6: "SimpleProducer is deprecated: use kafka.KafkaProducer",
    7: "KeyedProducer is deprecated: use kafka.KafkaProducer",
    8: "SimpleConsumer is deprecated: use KafkaConsumer",
    9: "MultiProcessConsumer is deprecated: use KafkaConsumer",
    14: "Own is deprecated: use KafkaConsumer",
}


@pytest.fixture
def partitions() -> int:
    return 1


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["-W", "always::DeprecationWarning"]])
def test_deprecation_warnings_point_to_the_program_when_enabled(
    broker: EmbeddedBroker, client: SimpleClient, tmp_path: Path, options: list[str]
) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    command = [sys.executable, *options, str(program), broker.bootstrap_servers]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    told = [line for line in done.stderr.splitlines() if line.startswith(str(program))]
    expected = TOLD if options else {}
    assert told == [f"{program}:{line}: DeprecationWarning: {text}" for line, text in expected.items()]
    if not options:
        assert done.stderr == ""


@pytest.mark.slow
def test_a_warning_turned_into_an_error_is_raised_before_connecting(broker: EmbeddedBroker, tmp_path: Path) -> None:
    code = f"import kafka\nkafka.SimpleClient({broker.bootstrap_servers!r})"
    command = [sys.executable, "-W", "error::DeprecationWarning", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("DeprecationWarning: SimpleClient is deprecated")
