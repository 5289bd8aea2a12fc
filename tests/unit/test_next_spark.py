"""The environment in which `make spark-trials` runs the tests with another PySpark."""

import subprocess

import pytest
from scripts import next_spark

pytestmark = pytest.mark.once


def test_it_has_what_this_environment_has_behind_packages_of_its_own(tmp_path):
    pins = tmp_path / "spark-next.txt"
    pins.write_text("pyspark==9.9.9\n")
    python = next_spark.environment(tmp_path, pins, install=["--help"])
    packages = next(python.parent.parent.glob("lib/python3.*/site-packages"))
    (packages / "pyspark.py").write_text("__version__ = '9.9.9'\n")
    program = "import kafka, pyarrow, pyspark, py4j; print(pyspark.__version__)"
    done = subprocess.run([python, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("9.9.9\n", "")
    again = next_spark.environment(tmp_path, pins, install=["--no-such-option"])
    assert again == python


@pytest.mark.parametrize(("ci", "status"), [("", 0), ("true", 1)])
def test_what_cannot_be_installed_is_named(monkeypatch, capsys, ci, status):
    def cannot(*_):
        raise subprocess.CalledProcessError(1, ["pip", "install"])

    monkeypatch.setenv("CI", ci)
    monkeypatch.setattr(next_spark, "environment", cannot)
    assert next_spark.main() == status
    assert "pyspark==4.3.0 cannot be installed here: pip install failed" in capsys.readouterr().err
