"""Spark Connect: the server has this package, and its client has PySpark alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.ports import free_ports
from harness.spark_cluster import HOME, SMALL_JVM, start

from .trial_support import EXPECTED

PROGRAM = Path(__file__).with_name("connect_program.py")


def test_a_client_needs_no_package_of_ours(embedded_broker, tmp_path):
    pytest.importorskip("grpc", reason="requirements/spark-trials.txt is not installed; make spark-trials does it")
    (port,) = free_ports(1)
    settings = {
        "spark.master": "local[2]",
        "spark.driver.memory": "512m",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraJavaOptions": SMALL_JVM,
        "spark.ui.enabled": "false",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(tmp_path / "warehouse"),
    }
    given = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    main = ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", *given, "spark-internal"]
    env = {"PYSPARK_PYTHON": sys.executable, "SPARK_DAEMON_MEMORY": "600m"}
    script = str(HOME / "bin" / "spark-submit")
    server = start(script, main, tmp_path / "connect.log", "Spark Connect server started at", env)
    try:
        command = [sys.executable, str(PROGRAM), f"sc://127.0.0.1:{port}", embedded_broker.bootstrap_servers, "connect"]
        environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
        done = subprocess.run(
            [*command, str(tmp_path)], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr[-4_000:] + server.output()[-2_000:]
    finally:
        server.end()
    assert json.loads(done.stdout) == EXPECTED
