"""Making worker processes cheap to reuse."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.once

CODE = """
import gc
from kafka.spark.spark_calls import begin_call

before = gc.get_freeze_count()  # some Pythons freeze what they begin with

class Node:
    pass

stays = Node()
stays.itself = stays
begin_call()
print(gc.get_freeze_count() == before)
begin_call()
print(any(each is stays for each in gc.get_objects()), gc.get_freeze_count() > 1000)
frozen = gc.get_freeze_count()
begin_call()
print(gc.get_freeze_count() <= frozen)
import xml.dom.minidom  # stands for what the first task of another kind imports
later = Node()
later.itself = later
begin_call()
print(any(each is later for each in gc.get_objects()))
"""


PLANNING_A_WRITE = """
import gc, types
from pyspark_kafka_columnar import DefaultSource

schema = types.SimpleNamespace(
    fields=[types.SimpleNamespace(name="value", dataType=types.SimpleNamespace(simpleString=lambda: "binary"))]
)
for make in ("writer", "streamWriter"):
    source = DefaultSource({"kafka.bootstrap.servers": "localhost:9092", "topic": "t"})
    getattr(source, make)(schema, False)
    print(gc.get_freeze_count() > 1000)
"""


@pytest.mark.slow
def test_planning_a_write_counts_as_one_call():
    environment = os.environ | {"SPARK_REUSE_WORKER": "1"}
    command = [sys.executable, "-c", PLANNING_A_WRITE]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    assert done.stdout.split("\n") == ["False", "True", ""]


@pytest.mark.parametrize(
    ("spark", "printed"),
    [
        ({"SPARK_REUSE_WORKER": "1"}, ["True", "False True", "True", "False", ""]),
        ({}, ["True", "True False", "True", "True", ""]),
    ],
)
def test_objects_that_survive_the_first_call_are_frozen_in_sparks_processes(spark: dict[str, str], printed: list[str]):
    environment = {name: value for name, value in os.environ.items() if name != "SPARK_REUSE_WORKER"} | spark
    done = subprocess.run([sys.executable, "-c", CODE], check=True, capture_output=True, text=True, env=environment)
    assert done.stdout.split("\n") == printed
