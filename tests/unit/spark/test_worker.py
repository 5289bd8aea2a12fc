"""What makes a worker process cheap to use again."""

import os
import subprocess
import sys

import pytest

CODE = """
import gc
from kafka.spark.worker import begin_call

class Node:
    pass

stays = Node()
stays.itself = stays
begin_call()
print(gc.get_freeze_count())
begin_call()
print(any(each is stays for each in gc.get_objects()), gc.get_freeze_count() > 1000)
frozen = gc.get_freeze_count()
begin_call()
print(gc.get_freeze_count() <= frozen)
"""


@pytest.mark.parametrize(
    ("spark", "printed"),
    [({"SPARK_REUSE_WORKER": "1"}, ["0", "False True", "True", ""]), ({}, ["0", "True False", "True", ""])],
)
def test_what_outlives_the_first_call_is_left_out_of_collections_in_processes_of_spark(
    spark: dict[str, str], printed: list[str]
):
    environment = {name: value for name, value in os.environ.items() if name != "SPARK_REUSE_WORKER"} | spark
    done = subprocess.run([sys.executable, "-c", CODE], check=True, capture_output=True, text=True, env=environment)
    assert done.stdout.split("\n") == printed
