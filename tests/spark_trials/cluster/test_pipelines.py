"""Declarative pipelines."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from harness.spark_cluster import HOME
from kafka import KafkaConsumer, KafkaProducer

PIPELINE = """
name: trial
storage: file://{folder}/storage
libraries:
  - glob:
      include: transformations/**
"""
TRANSFORMATIONS = """
from pyspark import pipelines as dp
from pyspark.sql import SparkSession

spark = SparkSession.active()
brokers = {{"kafka.bootstrap.servers": "{servers}"}}


@dp.materialized_view
def counted():
    return spark.read.format("kafka_columnar").options(**brokers, subscribe="pipeline").load().groupBy("topic").count()


dp.create_sink("copy", "kafka_columnar", {{**brokers, "topic": "pipeline-copy"}})


@dp.append_flow(target="copy")
def copied():
    stream = spark.readStream.format("kafka_columnar").option("subscribe", "pipeline")
    return stream.options(**brokers, startingOffsets="earliest").load().selectExpr("key", "value")
"""


def test_a_declarative_pipeline(embedded_broker, tmp_path):
    pytest.importorskip("grpc", reason="requirements/spark-trials.txt is not installed; make spark-trials does it")
    servers = embedded_broker.bootstrap_servers
    with KafkaProducer(bootstrap_servers=servers) as producer:
        for number in range(50):
            producer.send("pipeline", b"%d" % number)
    (tmp_path / "transformations").mkdir()
    (tmp_path / "transformations" / "all.py").write_text(TRANSFORMATIONS.format(servers=servers))
    (tmp_path / "spark-pipeline.yml").write_text(PIPELINE.format(folder=tmp_path))
    env = {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    env |= {"SPARK_HOME": str(HOME), "SPARK_LOCAL_IP": "127.0.0.1", "PYTHONWARNINGS": "ignore"}
    command = [str(HOME / "bin" / "spark-pipelines"), "run", "--spec", str(tmp_path / "spark-pipeline.yml")]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2_000:] + done.stderr[-4_000:]
    assert "Run is COMPLETED" in done.stdout + done.stderr
    with KafkaConsumer("pipeline-copy", bootstrap_servers=servers, auto_offset_reset="earliest", group_id=None) as got:
        values: set[bytes] = set()
        while len(values) < 50:
            values |= {record.value for of in got.poll(timeout_ms=10_000).values() for record in of}
    assert values == {b"%d" % number for number in range(50)}
