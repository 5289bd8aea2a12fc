"""On a system without POSIX everything can be imported and clients work; the broker says that it does not."""

from __future__ import annotations

import json
import os
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

from harness.other_systems import hiding_arguments, missing_names
from kafka.broker import EmbeddedBroker

pytestmark = pytest.mark.once

SOURCE = Path(__file__).resolve().parents[2] / "src"
LIBRARIES = ("ssl", "cramjam", "crc32c", "click")
EXTRAS = (
    "authlib",
    "botocore",
    "itsdangerous",
    "jinja2",
    "joserfc",
    "matplotlib.figure",
    "opentelemetry.metrics",
    "pandas",
    "prometheus_client",
    "pyarrow",
    "pyspark.sql",
    "pyspark.sql.datasource",
    "pytest",
    "rich",
    "starlette",
    "uvicorn",
)
NEED_MORE = {"kafka.notebook.live_widgets": "anywidget", "kafka.testing.containers": "testcontainers"}
"""Modules that need a package which the requirements of development do not have."""
LIMIT_S = 200
"""Ends a hang."""


def run_without_posix(program: str, *arguments: str, libraries: tuple[str, ...] = LIBRARIES) -> str:
    """What a program prints where what Windows lacks is missing."""
    command = hiding_arguments("win32", program, libraries, *arguments)
    env = {**os.environ, "KAFKA_PURE": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_what_is_hidden_is_what_windows_lacks() -> None:
    assert {"fork", "register_at_fork", "pread", "geteuid", "O_CLOEXEC", "killpg"} <= {*missing_names("os", "win32")}
    assert {"SIGHUP", "SIGKILL", "SIGSTOP", "pthread_sigmask"} <= {*missing_names("signal", "win32")}
    assert not {"SIGINT", "SIGTERM", "signal", "raise_signal"} & {*missing_names("signal", "win32")}
    assert not {"getpid", "kill", "urandom", "O_RDWR"} & {*missing_names("os", "win32")}
    assert missing_names("fcntl", "win32") == []  # all of it


def modules() -> list[str]:
    """Every module but those that are run."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return [name for name in found if not name.endswith("__main__")]


IMPORTS = """
failed = []
for name in json.loads(sys.argv[2]):
    try:
        importlib.import_module(name)
    except BaseException as error:
        failed.append(f"{name}: {type(error).__name__}: {error}")
print("\\n".join(failed), end="")
"""


def test_every_module_can_be_imported() -> None:
    names = [name for name in modules() if find_spec(NEED_MORE.get(name, "kafka")) is not None]
    assert run_without_posix(IMPORTS, json.dumps(names), libraries=LIBRARIES + EXTRAS) == ""


CLIENTS = """
import warnings
warnings.simplefilter("error")
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.aio import AIOKafkaConsumer, AIOKafkaProducer
servers = sys.argv[2]
with KafkaAdminClient(bootstrap_servers=servers) as admin:
    admin.create_topics(["t"])
with KafkaProducer(bootstrap_servers=servers) as producer:
    for number in range(3):
        producer.send("t", b"%d" % number, key=b"k")
with KafkaConsumer("t", bootstrap_servers=servers, group_id="g", auto_offset_reset="earliest") as consumer:
    print([next(consumer).value for _ in range(3)])
    consumer.commit()

async def at_once():
    async with AIOKafkaProducer(bootstrap_servers=servers) as producer:
        await producer.send_and_wait("t", b"last")
    async with AIOKafkaConsumer("t", bootstrap_servers=servers, group_id="a", auto_offset_reset="earliest") as consumer:
        print([(await consumer.getone()).value for _ in range(4)])

asyncio.run(at_once())
"""
COMMAND = """
sys.argv[:] = ["kafka", "consume", "t", "--bootstrap-servers", sys.argv[2]]
from kafka_columnar import main
main()
"""


@pytest.mark.slow
def test_clients_and_the_command_line_work() -> None:
    with EmbeddedBroker(group_initial_rebalance_delay_ms=0) as broker:
        said = run_without_posix(CLIENTS, broker.bootstrap_servers)
        assert said.splitlines() == ["[b'0', b'1', b'2']", "[b'0', b'1', b'2', b'last']"]
        assert run_without_posix(COMMAND, broker.bootstrap_servers).split() == ["0", "1", "2", "last"]


BROKER = """
from kafka.broker import EmbeddedBroker
try:
    EmbeddedBroker().start()
except OSError as error:
    print(error)
"""


@pytest.mark.slow
def test_the_broker_says_where_it_runs() -> None:
    said = run_without_posix(BROKER)
    assert "runs on POSIX systems, such as Linux and macOS, not on win32" in said
