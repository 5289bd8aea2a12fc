"""Messages for users if something is missing or wrong: they start with the cause."""

import os
import subprocess
import sys

import pytest
from pyspark import cloudpickle
from pyspark.sql.types import BinaryType, StructField, StructType

from kafka.errors import KafkaConfigurationError
from kafka.spark.batch_reader import KafkaBatchReader
from kafka.spark.spark_calls import rows_without_traceback, without_traceback
from kafka.spark.stream_reader import KafkaStreamReader
from kafka.spark.writers import KafkaBatchWriter, KafkaStreamWriter
from kafka.version import DISTRIBUTION_VERSION

pytestmark = pytest.mark.once

SCHEMA = StructType([StructField("value", BinaryType())])
SERVERS = {"kafka.bootstrap.servers": "h:1"}
READ = {**SERVERS, "subscribe": "t"}
WRITE = {**SERVERS, "topic": "t"}
TRAVELLERS = {
    "batch reader": lambda: KafkaBatchReader(READ, SCHEMA),
    "stream reader": lambda: KafkaStreamReader(READ, SCHEMA),
    "batch writer": lambda: KafkaBatchWriter(WRITE, SCHEMA, False),
    "stream writer": lambda: KafkaStreamWriter(WRITE, SCHEMA),
}

UNPICKLE = """
import pickle, sys
for name in {missing!r}:
    sys.modules[name] = None
try:
    print(type(pickle.loads(sys.stdin.buffer.read())).__name__)
except ImportError as error:
    print(error)
"""


def unpickled_without(made, *missing: str) -> str:
    """Return the error of a process that unpickles an object while modules are missing."""
    command = [sys.executable, "-c", UNPICKLE.format(missing=missing)]
    return subprocess.run(command, input=cloudpickle.dumps(made), check=True, capture_output=True).stdout.decode()


@pytest.mark.slow
@pytest.mark.once
@pytest.mark.parametrize(
    "make",
    [
        pytest.param(make, id=name, marks=() if name == "stream writer" else pytest.mark.exhaustive)
        for name, make in TRAVELLERS.items()
    ],
)
def test_a_task_without_the_package_names_it_and_the_remedy(make):
    said = unpickled_without(make(), "kafka")
    assert said.startswith("kafka-columnar is not installed in the Python of this Spark process, ")
    assert "spark.archives" in said
    assert unpickled_without(make()) == f"{type(make()).__name__}\n"


@pytest.mark.slow
def test_a_task_without_a_package_that_this_one_needs_names_that():
    assert unpickled_without(KafkaBatchReader(READ, SCHEMA), "pyspark.sql.datasource").startswith("pyspark.sql.data")


@pytest.mark.slow
def test_a_task_with_another_version_of_the_package_names_both(monkeypatch):
    monkeypatch.setattr("kafka.spark.spark_calls.DISTRIBUTION_VERSION", "0.0.9")
    said = unpickled_without(KafkaBatchReader(READ, SCHEMA))
    assert said.startswith(f"kafka-columnar is {DISTRIBUTION_VERSION} in the Python of this Spark process, ")
    assert "and 0.0.9 in the process that sent the work: install one version in both" in said


def test_the_pickled_form_stays_the_same():
    reader = KafkaBatchReader({**READ, "maxrecordsperpartition": "7"}, SCHEMA)
    again = cloudpickle.loads(cloudpickle.dumps(reader))
    assert again.__dict__ == reader.__dict__


@pytest.fixture
def environment(monkeypatch):
    """Restore the environment after the test."""
    monkeypatch.setattr(os, "environ", dict(os.environ))
    os.environ.pop("SPARK_HIDE_TRACEBACK", None)
    os.environ.pop("PYTHON_WORKER_FACTORY_SECRET", None)
    return os.environ


@without_traceback
def fail(error: Exception) -> None:
    raise error


def failing(error: Exception):
    yield 1
    raise error


@pytest.mark.parametrize("of_spark", [False, True])
@pytest.mark.parametrize("call", [fail, lambda error: list(rows_without_traceback(failing(error)))])
def test_tracebacks_are_hidden_in_sparks_processes_only(environment, call, of_spark):
    if of_spark:
        environment["PYTHON_WORKER_FACTORY_SECRET"] = "secret"
    with pytest.raises(ZeroDivisionError):
        call(ZeroDivisionError())
    assert "SPARK_HIDE_TRACEBACK" not in environment
    with pytest.raises(KafkaConfigurationError):
        call(KafkaConfigurationError("wrong"))
    assert ("SPARK_HIDE_TRACEBACK" in environment) == of_spark


@pytest.mark.slow
def test_the_package_says_what_to_install_without_pyarrow():
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from kafka.spark.requirements import check_pyspark\n"
        "try: check_pyspark()\n"
        "except ImportError as error: print(error)"
    )
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    remedy = "pip install 'kafka-columnar[spark]'"
    assert said == f"kafka.spark requires pyarrow, which is not installed in {sys.executable}: {remedy}\n"
