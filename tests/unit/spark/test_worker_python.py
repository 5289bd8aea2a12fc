"""The Python interpreter of Spark's processes on this machine."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from kafka.spark import sessions
from kafka.spark.sessions import worker_python

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the script is for a shell")


@pytest.fixture
def script(monkeypatch, tmp_path):
    """Provide a separate script for the test."""
    monkeypatch.delenv("SPARK_HOME", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    sessions._script.cache_clear()
    yield worker_python()
    sessions._script.cache_clear()


def test_only_sparks_archive_is_removed_from_the_path(script, tmp_path):
    archive = str(Path(pyspark.__file__).parent / "python" / "lib" / "pyspark.zip")
    others = [str(tmp_path / "a user's * folder"), str(tmp_path / "py4j.zip"), "/spark-core.jar"]
    (tmp_path / "a user's other folder").mkdir()  # a shell would expand the star to it
    path = os.pathsep.join([archive, others[0], archive, *others[1:], archive])
    code = "import json, os, sys; print(json.dumps([sys.executable, os.environ['PYTHONPATH'], sys.argv[1:]]))"
    command = [script, "-c", code, "two words", "*"]
    said = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, cwd="/", capture_output=True, check=True)
    assert json.loads(said.stdout) == [sys.executable, os.pathsep.join(others), ["two words", "*"]]
    alone = subprocess.run(command, env={"PYTHONPATH": archive}, capture_output=True, check=True)
    assert json.loads(alone.stdout)[1] == ""


def test_there_is_one_script_per_process(script):
    assert worker_python() == script != sys.executable


def test_another_spark_keeps_its_own_pyspark(monkeypatch, tmp_path):
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    assert worker_python() == sys.executable


def test_a_pyspark_outside_the_packages_is_left_to_spark(monkeypatch, tmp_path):
    monkeypatch.delenv("SPARK_HOME", raising=False)
    monkeypatch.setattr(pyspark, "__file__", str(tmp_path / "pyspark.zip" / "pyspark" / "__init__.py"))
    assert worker_python() == sys.executable


def test_a_script_that_cannot_be_executed_is_not_used(script, monkeypatch):
    sessions._script.cache_clear()
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert worker_python() == sys.executable


def test_the_folder_is_removed_with_its_process_but_not_with_a_fork(script):
    folder = Path(script).parent
    sessions._remove(str(folder), os.getpid() + 1)
    assert Path(script).exists()
    sessions._remove(str(folder), os.getpid())
    assert not folder.exists()
