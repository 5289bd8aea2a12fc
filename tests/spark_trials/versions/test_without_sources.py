"""What works with PySpark 3.5, which has no data sources in Python: the program of docs/SPARK.md, and a stream."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyspark
import pytest

import kafka
import kafka.spark
from conftest import missing
from harness.fetch import FetchError, fetch_spark_connector
from harness.function_checks import check_all_types, check_beside_sparks_connector, check_registry
from harness.java import JavaError
from harness.tools import JVM
from kafka.broker import EmbeddedBroker

pytestmark = [
    pytest.mark.timeout(600),
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),  # PySpark's own
    pytest.mark.skipif(not pyspark.__version__.startswith("3."), reason="later versions have data sources in Python"),
]
GUIDE = Path(__file__).resolve().parents[3] / "docs" / "SPARK.md"


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = pyspark.sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
    with contextlib.suppress(FetchError, JavaError):
        jars = ",".join(str(jar) for jar in sorted(fetch_spark_connector().glob("*.jar")))
        builder = builder.config("spark.jars", jars)
    running = builder.config("spark.driver.extraJavaOptions", " ".join(JVM)).getOrCreate()
    yield running
    running.stop()


def program(servers: str, topic: str) -> str:
    section = GUIDE.read_text().partition("## Spark 3.5")[2]
    code = re.search(r"^```python\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    assert code is not None
    return code[1].replace("localhost:9092", servers).replace('"flights"', f'"{topic}"')


def test_the_program_of_the_guide(spark, embedded_broker, embedded_topic, capsys):
    topic = embedded_topic(2)
    seen: dict[str, Any] = {}
    exec(program(embedded_broker.bootstrap_servers, topic), seen)
    assert capsys.readouterr().out == "1000 rows written\n1000 rows read\n"


def test_a_stream_is_written_batch_by_batch(spark, embedded_broker, embedded_topic, tmp_path):
    topic = embedded_topic(2)
    code = program(embedded_broker.bootstrap_servers, topic)
    seen: dict[str, Any] = {}
    exec(code, seen)
    spark.range(50).selectExpr("cast(id as string) as value").write.parquet(f"{tmp_path}/rows")
    stream = spark.readStream.schema("value string").parquet(f"{tmp_path}/rows")
    writer = stream.writeStream.foreachBatch(lambda frame, _: seen["write"](frame))
    query = writer.option("checkpointLocation", f"{tmp_path}/checkpoint").trigger(availableNow=True).start()
    assert query.awaitTermination(120)
    read = kafka.read(topic, bootstrap_servers=embedded_broker.bootstrap_servers).to_arrow()
    assert {b"%d" % number for number in range(50)} <= set(read["value"].to_pylist())


def test_the_source_says_what_to_do(spark):
    with pytest.raises(kafka.spark.SparkRequirementError, match=r"Spark before 4\.0 has no Python data sources"):
        kafka.spark.session()


def test_functions_read_and_write_values_of_all_types(spark):
    check_all_types(spark)


def test_functions_read_and_write_values_of_a_registry(spark):
    with EmbeddedBroker(registry=True) as broker:
        check_registry(spark, str(broker.registry_url))


def test_functions_beside_sparks_connector(spark, embedded_broker, embedded_topic):
    if not spark.conf.get("spark.jars", ""):
        missing("Spark's own connector for Scala 2.12 cannot be fetched")
    check_beside_sparks_connector(spark, embedded_broker.bootstrap_servers, embedded_topic(2))
