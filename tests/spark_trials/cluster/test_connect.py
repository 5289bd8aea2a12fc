"""Spark Connect: the server has this package, and its client has PySpark alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.spark_cluster import connect_server

from .trial_support import EXPECTED

PROGRAM = Path(__file__).with_name("connect_program.py")


def test_a_client_needs_no_package_of_ours(embedded_broker, tmp_path):
    pytest.importorskip("grpc", reason="requirements/spark-trials.txt is not installed; make spark-trials does it")
    with connect_server(tmp_path) as (url, server):
        command = [sys.executable, str(PROGRAM), url, embedded_broker.bootstrap_servers, "connect"]
        environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
        done = subprocess.run(
            [*command, str(tmp_path)], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr[-4_000:] + server.output()[-2_000:]
    assert json.loads(done.stdout) == EXPECTED
