"""The environments in which tests on Spark run with other versions of PySpark."""

import subprocess

import pytest
from scripts import spark_versions

from harness.pins import PinsError

pytestmark = pytest.mark.once

FULL = [list(tests) for tests in spark_versions.FULL]


def test_one_has_what_this_environment_has_behind_packages_of_its_own(tmp_path):
    pins, packages = tmp_path / "spark-9.9.txt", tmp_path / "packages"
    pins.write_text("# the one of tomorrow\npyspark==9.9.9\n")
    packages.mkdir()
    (packages / "pyspark.py").write_text("__version__ = '9.9.9'\n")
    (packages / "bin").mkdir()
    python = spark_versions.environment(tmp_path, pins, packages)
    program = "import kafka, pyarrow, pyspark, py4j; print(pyspark.__version__)"
    done = subprocess.run([python, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("9.9.9\n", "")
    made = python.parent.stat().st_mtime_ns
    assert spark_versions.environment(tmp_path, pins, packages) == python
    assert python.parent.stat().st_mtime_ns == made, "what is there is not made again"


@pytest.mark.parametrize(("ci", "status"), [("", 0), ("true", 1)])
def test_what_cannot_be_installed_is_named(monkeypatch, capsys, ci, status):
    def cannot(_):
        raise PinsError("pip could not install it")

    monkeypatch.setenv("CI", ci)
    monkeypatch.setattr(spark_versions, "pinned_folder", cannot)
    assert spark_versions.main(["--versions", "next"]) == status
    assert "pyspark==4.3.0 cannot be installed here: pip could not install it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "versions", "tests"),
    [
        (["--versions", "4.1,next"], ["spark-4.1", "spark-next"], FULL),
        (["--versions", "3.5"], ["spark-3.5"], [["tests/spark_trials/versions/test_without_sources.py"]]),
        (["--quick"], ["spark-4.0", "spark-4.1"], [["tests/spark_trials/versions/test_quick.py"]]),
        (["--quick", "--versions", "4.1", "-x"], ["spark-4.1"], [["tests/spark_trials/versions/test_quick.py", "-x"]]),
    ],
)
def test_the_versions_and_the_tests_are_chosen(monkeypatch, given, versions, tests):
    runs = []

    def run(pins, arguments):
        assert pins.exists()
        runs.append((pins.stem, list(arguments)))
        return len(runs)

    monkeypatch.setattr(spark_versions, "run", run)
    assert spark_versions.main(given) == len(versions) * len(tests)
    assert runs == [(version, each) for version in versions for each in tests]
