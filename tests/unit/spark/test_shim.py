"""The module through which Spark finds the format."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.once


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


@pytest.mark.slow
def test_importing_the_module_imports_nothing_but_pyspark():
    code = (
        "import sys, pyspark.sql.datasource; before = set(sys.modules); import pyspark_kafka_columnar as shim; "
        "print(sorted(set(sys.modules) - before)); print(shim.DefaultSource.name())"
    )
    assert run(code) == "['pyspark_kafka_columnar']\nkafka_columnar\n"


def test_the_module_does_not_raise_without_spark():
    code = "import sys; sys.modules['pyspark'] = None; import pyspark_kafka_columnar as shim; print(dir(shim))"
    assert "DefaultSource" not in run(code)


def test_the_package_says_what_to_install_without_spark():
    code = (
        "import sys; sys.modules['pyspark'] = None; sys.modules['pyspark.sql'] = None\n"
        "import kafka.spark\n"
        "try: kafka.spark.session()\n"
        "except ImportError as error: print(error)"
    )
    assert run(code) == "kafka.spark requires PySpark 4.0 or later: pip install 'kafka-columnar[spark]'\n"


@pytest.mark.slow
@pytest.mark.parametrize("version", ["3.5.3", "3.6.0.dev1"])
def test_a_pyspark_that_is_too_old_is_refused_by_its_version(version):
    code = (
        f"import pyspark; pyspark.__version__ = {version!r}\n"
        "import kafka.spark, pyspark_kafka_columnar\n"
        "for call in kafka.spark.session, lambda: pyspark_kafka_columnar.DefaultSource({}):\n"
        "    try: call()\n"
        "    except ImportError as error: print(error)"
    )
    said = (
        f"kafka.spark requires PySpark 4.0 or later, not {version}: pip install 'kafka-columnar[spark]' --upgrade. "
        "Spark before 4.0 has no Python data sources: kafka.spark.functions, kafka.read() and send_arrow() work there; "
        "see docs/SPARK.md, Spark 3.5\n"
    )
    assert run(code) == said * 2


def test_planning_needs_neither_spark_nor_a_client():
    code = (
        "import sys, kafka.spark.planning.batch_plan, kafka.spark.planning.stream_plan; "
        "print([m for m in sys.modules if m.startswith(('pyspark.', 'kafka.consumer', 'kafka.net', 'pyarrow'))])"
    )
    assert run(code) == "[]\n"
