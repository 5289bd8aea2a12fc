"""Importing: each module alone, the package quickly, and nothing heavy or optional before it is needed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import kafka
from kafka._variant import HOT_MODULES
from kafka.legacy.addresses import ADDRESSES

SOURCE = Path(__file__).resolve().parents[2] / "src"
SECURITY = ("authlib", "botocore", "cryptography", "gssapi", "jks", "python_socks", "requests")
HEAVY = ("pyarrow", "pyspark", "pandas", "numpy", "click", "rich", *SECURITY)

# A module's packages are imported before it anyway. Therefore a process that has imported a package forks for each
# module in it: every module is imported in a process that has only loaded its own packages, and nothing is imported
# twice. The libraries, whose imports take seconds, are loaded once.
ALONE = """
import gc, importlib, json, os, sys, traceback, warnings
names, preload, blocked = json.loads(sys.argv[1])
for name in preload:
    try:
        importlib.import_module(name)
    except ImportError:
        pass
for name in blocked:
    sys.modules[name] = None
warnings.simplefilter("error")
gc.disable()  # a collection writes to, and so copies, what a child shares with its parent

def visit(package):
    for name in names:
        if name.rpartition(".")[0] != package:
            continue
        child = os.fork()
        if child == 0:
            try:
                importlib.import_module(name)
            except BaseException:
                os.write(2, f"--- {name}\\n{traceback.format_exc(limit=-3)}".encode())
                os.write(1, f"{name}\\n".encode())
            else:
                visit(name)
            os._exit(0)
        if os.waitpid(child, 0)[1]:
            os.write(1, f"{name} crashed\\n".encode())

visit("")
"""
LIBRARIES = (
    "asyncio",
    "ssl",
    "cramjam",
    "crc32c",
    "pyarrow",
    "pyspark.sql.datasource",
    "pyspark.sql",
    "click",
    "rich",
    "starlette.applications",
    "uvicorn",
    "matplotlib.figure",
)
WITH_FRAMEWORKS = ("kafka.notebook.live_widgets", "kafka.testing.containers")
"""Modules whose libraries only the tests in integration/frameworks have."""


def all_modules() -> list[str]:
    """Return every module, except those that run something when they are imported, and `WITH_FRAMEWORKS`."""
    names = [*ADDRESSES]
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        names.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return [name for name in names if not name.endswith("__main__") and name not in WITH_FRAMEWORKS]


def import_alone(names: Sequence[str], preload: Sequence[str] = (), blocked: Sequence[str] = (), **env: str) -> None:
    """Import each module in a separate process; the test fails with the end of each traceback."""
    packages = {name.rsplit(".", depth)[0] for name in names for depth in range(1, name.count(".") + 1)}
    arguments = json.dumps([sorted({*names, *packages}), list(preload), list(blocked)])
    done = subprocess.run(
        [sys.executable, "-c", ALONE, arguments], capture_output=True, text=True, env={**os.environ, **env}, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "", done.stderr


def loaded_after(statement: str, **env: str) -> set[str]:
    """Return the modules that a new interpreter has loaded after a statement, except those it starts with."""
    report = "print(json.dumps(sorted(set(sys.modules) - before)))"
    code = f"import sys, json\nbefore = set(sys.modules)\n{statement}\n{report}"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **env}, check=False)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


@pytest.mark.slow
@pytest.mark.once
@pytest.mark.parametrize("every", [pytest.param(1, marks=pytest.mark.exhaustive), 25])
@pytest.mark.timeout(900)  # one process for each of a thousand modules: minutes on a busy machine
def test_each_module_imports_alone(every: int) -> None:
    import_alone(all_modules()[::every], preload=LIBRARIES)


@pytest.mark.slow
@pytest.mark.once
def test_hot_modules_work_uncompiled_without_cython() -> None:
    import_alone(HOT_MODULES, preload=("asyncio", "cramjam"), blocked=("cython", "Cython"), KAFKA_PURE="1")


@pytest.mark.slow
@pytest.mark.once
def test_the_base_install_is_enough_for_the_clients_and_the_broker() -> None:
    faces = ["kafka", "kafka.consumer", "kafka.producer", "kafka.admin", "kafka.broker", "kafka.record", "kafka.cli"]
    import_alone([*faces, "pyspark_kafka_columnar"], preload=("asyncio",), blocked=HEAVY)


def test_importing_kafka_loads_almost_nothing() -> None:
    loaded = loaded_after("import kafka")
    assert {name for name in loaded if name.partition(".")[0] == "kafka"} == {
        "kafka",
        "kafka._old_names",
        "kafka._variant",
        "kafka.version",
    }


def test_importing_kafka_loads_only_what_it_needs() -> None:
    loaded = {name.partition(".")[0] for name in loaded_after("import kafka")}
    assert not loaded & {*HEAVY, "asyncio", "ssl", "cramjam", "crc32c", "concurrent"}


@pytest.mark.slow
@pytest.mark.once
@pytest.mark.parametrize("name", ["KafkaConsumer", "KafkaProducer", "KafkaAdminClient", "TopicPartition"])
def test_public_names_require_no_optional_library(name: str) -> None:
    loaded = {module.partition(".")[0] for module in loaded_after(f"from kafka import {name}")}
    assert not loaded & set(HEAVY)


@pytest.mark.slow
@pytest.mark.once
def test_a_consumer_without_a_group_loads_neither_group_code_nor_the_other_api() -> None:
    loaded = loaded_after("from kafka import KafkaConsumer")
    assert "kafka.consumer.kafka_consumer" in loaded
    seldom = ("kafka.coordinator.classic", "kafka.coordinator.assignors", "kafka.consumer.async_consumer")
    assert not [name for name in loaded if name.startswith(seldom)]


CLIENTS_AT_WORK = """
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.broker import EmbeddedBroker
with EmbeddedBroker(group_initial_rebalance_delay_ms=0) as broker:
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        admin.create_topics(["t"])
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        producer.send("t", b"x", key=b"k").get(timeout=30)
        producer.metrics()
    with KafkaConsumer(
        "t", bootstrap_servers=broker.bootstrap_servers, group_id="g", auto_offset_reset="earliest"
    ) as consumer:
        assert next(consumer).value == b"x"
        consumer.commit()
        consumer.metrics()
"""


@pytest.mark.slow
@pytest.mark.once
def test_current_clients_load_no_legacy_modules() -> None:
    loaded = loaded_after(CLIENTS_AT_WORK, KAFKA_PURE="1")
    assert "kafka.coordinator.classic" in loaded
    assert not [name for name in loaded if name.startswith("kafka.legacy")]


@pytest.mark.slow
@pytest.mark.once
def test_every_public_name_exists() -> None:
    assert loaded_after("import kafka\nfor name in kafka.__all__: getattr(kafka, name)")


def test_an_unknown_name_raises_attribute_error() -> None:
    import kafka

    with pytest.raises(AttributeError, match="no attribute 'KafkaConsumr'"):
        _ = kafka.KafkaConsumr


SUBMODULES = (
    *("admin.client", "consumer.fetcher", "consumer.group", "coordinator.assignors.range", "coordinator.base"),
    *("oauth.abstract", "partitioner.default", "producer.future", "protocol.commit", "protocol.legacy"),
    *("record.memory_records", "sasl.oauth", "vendor.six"),
)


@pytest.mark.slow
def test_submodules_are_available_as_in_kafka_python() -> None:
    asks = "; ".join(f"assert kafka.{name}.__name__ == 'kafka.{name}'" for name in SUBMODULES)
    subprocess.run([sys.executable, "-c", f"import kafka; {asks}"], check=True, timeout=60)
    with pytest.raises(AttributeError, match=r"module 'kafka\.protocol' has no attribute 'nothing'"):
        _ = kafka.protocol.nothing


def test_a_program_that_requires_kafka_python_2_runs() -> None:
    version = tuple(int(part) for part in kafka.__version__.split("."))
    assert (2, 0) <= version < (4, 0)
    assert kafka.KafkaConsumer.DEFAULT_CONFIG["client_id"] == f"kafka-python-{kafka.__version__}"
    assert kafka.KafkaProducer.DEFAULT_CONFIG["client_id"] is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("client", "module"), [("KafkaConsumer", "kafka.consumer.group"), ("KafkaProducer", "kafka.producer.kafka")]
)
def test_a_client_is_loaded_through_the_module_that_tracing_agents_patch(client: str, module: str) -> None:
    """New Relic's agent wraps the methods of a client when kafka-python's module of the client is imported."""
    code = f"import sys; from kafka import {client}; assert sys.modules[{module!r}].{client} is {client}"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
