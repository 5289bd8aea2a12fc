"""A query, with state or without, goes on with another PySpark, and comes back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest
from scripts.spark_versions import OTHER_PYTHON

from .test_quick import committed, send

PROGRAM = Path(__file__).with_name("copy_program.py")
TESTS = Path(__file__).resolve().parents[2]


@pytest.mark.timeout(1_200)
def test_a_query_goes_on_with_another_pyspark_and_comes_back(embedded_broker, embedded_topic, tmp_path):
    other = os.environ.get(OTHER_PYTHON)
    if other is None:
        pytest.skip(f"no other PySpark is named by {OTHER_PYTHON}; scripts/spark_versions.py does that")
    brokers = {"kafka.bootstrap.servers": embedded_broker.bootstrap_servers}
    source, target = embedded_topic(2), embedded_topic(2)
    versions = []
    for number, python in enumerate((sys.executable, other, sys.executable)):
        send(brokers, source, range(number * 100, number * 100 + 100))
        command = [python, str(PROGRAM), embedded_broker.bootstrap_servers, source, target, str(tmp_path)]
        env = {**os.environ, "PYTHONWARNINGS": "ignore", "PYTHONPATH": str(TESTS)}
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-4_000:]
        assert committed(brokers, target) == list(range(number * 100 + 100))
        seen = json.loads((tmp_path / "seen.json").read_text())
        assert seen["counts"] == {str(digit): 10 * (number + 1) for digit in range(10)}
        versions.append(seen["version"])
    assert versions[0] == versions[2] == pyspark.__version__ != versions[1]
