"""Checks of Java and PySpark before anything runs."""

import os
import sys
from pathlib import Path

import pytest

from kafka.spark import SESSION_SETTINGS, UNCHECKED_ARROW_SETTINGS, SparkRequirementError, session
from kafka.spark.requirements import check_java, find_java


@pytest.fixture
def no_jvm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend that no JVM runs in this process, and that none is used elsewhere."""
    monkeypatch.setattr("pyspark.SparkContext._gateway", None)
    monkeypatch.delenv("SPARK_REMOTE", raising=False)


def fake_java(home: Path, says: str) -> Path:
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho '{says}' >&2\n")
    java.chmod(0o755)
    return java


def test_java_home_determines_the_java(monkeypatch, tmp_path):
    java = fake_java(tmp_path, "")
    monkeypatch.setenv("PATH", str(java.parent))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert find_java() == str(java)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert find_java() == str(java)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    assert find_java() is None


def test_a_session_without_java_reports_that(no_jvm, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(
        SparkRequirementError,
        match="Spark requires Java 17 or later: there is no 'java' on the PATH",
    ):
        session()
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    with pytest.raises(SparkRequirementError, match="JAVA_HOME is '/nowhere', which does not contain bin/java"):
        session()


@pytest.mark.parametrize("says", ['openjdk version "11.0.2" 2019', 'java version "1.8.0_392"', "no idea"])
def test_a_java_that_is_too_old_is_named(no_jvm, monkeypatch, tmp_path, says):
    java = fake_java(tmp_path, says)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(SparkRequirementError) as caught:
        session()
    assert str(caught.value) == f"Spark requires Java 17 or later; {java} is: {says}"


@pytest.mark.parametrize("version", ["17.0.1", "21", "26-ea"])
def test_a_recent_java_is_accepted(monkeypatch, tmp_path, version):
    fake_java(tmp_path, f'openjdk version "{version}" 2026')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    check_java()


def test_options_printed_by_java_are_not_its_version(monkeypatch, tmp_path):
    fake_java(tmp_path, """NOTE: Picked up JDK_JAVA_OPTIONS: -Xmx1g\nopenjdk version "17.0.2" 2026""")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    check_java()


def test_a_java_that_does_not_run_is_named(monkeypatch, tmp_path):
    fake_java(tmp_path, "").chmod(0o644)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(SparkRequirementError, match="does not run: "):
        check_java()


class Builder:
    """A fake of Spark's builder with the methods that `session` uses."""

    def __init__(self) -> None:
        self.set: dict[str, str] = {}
        self.python = ""
        self.chosen: tuple[str, str] | None = None

    def appName(self, name: str) -> "Builder":  # noqa: N802  # Spark's name
        return self

    def master(self, master: str) -> "Builder":
        self.chosen = ("master", master)
        return self

    def remote(self, url: str) -> "Builder":
        self.chosen = ("remote", url)
        return self

    def config(self, name: str, value: str) -> "Builder":
        self.set[name] = value
        return self

    def getOrCreate(self) -> object:  # noqa: N802  # Spark's name
        self.python = os.environ["PYSPARK_PYTHON"]
        return object()


def test_arrows_checks_stay_enabled_by_default(no_jvm, monkeypatch):
    module = sys.modules[session.__module__]
    monkeypatch.setattr(module, "check_java", lambda: None)
    monkeypatch.setattr(module, "_found_by_spark", lambda: True)
    monkeypatch.setenv("PYSPARK_PYTHON", "python")
    settings = []
    for given in ({}, {"arrow_bounds_checks": False}):
        monkeypatch.setattr("pyspark.sql.SparkSession.builder", builder := Builder())
        session(**given)
        settings.append(builder.set)
    assert settings[0] == {each.name: each.value for each in SESSION_SETTINGS}
    assert not any("arrow.enable" in value for value in settings[0].values())
    assert settings[1] == settings[0] | {each.name: each.value for each in UNCHECKED_ARROW_SETTINGS}


def test_a_session_leaves_the_master_to_spark_submit_and_connects_to_a_server(no_jvm, monkeypatch):
    module = sys.modules[session.__module__]
    monkeypatch.setattr(module, "check_java", lambda: None)
    monkeypatch.setattr(module, "_found_by_spark", lambda: True)
    monkeypatch.setenv("PYSPARK_PYTHON", "python")
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)

    def built(**given: str) -> Builder:
        monkeypatch.setattr("pyspark.sql.SparkSession.builder", builder := Builder())
        session(**given)
        return builder

    assert built().chosen == ("master", "local[2]")
    remote = built(master="sc://server:15002")
    assert remote.chosen == ("remote", "sc://server:15002")
    assert {name.startswith("spark.sql.") for name in remote.set} == {True}
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "4040")
    assert built().chosen is None
    assert "spark.ui.enabled" not in built().set
    assert built(master="local[2]").chosen == ("master", "local[2]")
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT")
    monkeypatch.setenv("SPARK_REMOTE", "sc://server:15002")
    assert built().chosen is None
    assert {name.startswith("spark.sql.") for name in built().set} == {True}


def test_a_session_sets_the_interpreter_of_sparks_processes(no_jvm, monkeypatch):
    module = sys.modules[session.__module__]
    monkeypatch.setattr(module, "check_java", lambda: None)
    monkeypatch.setattr(module, "_found_by_spark", lambda: True)
    monkeypatch.setattr(module, "worker_python", lambda: "script")
    monkeypatch.setenv("PYSPARK_PYTHON", "/of/the/cluster")
    seen = []
    for master in ("spark://cluster:7077", None, "local[2]", "local"):
        monkeypatch.setattr("pyspark.sql.SparkSession.builder", builder := Builder())
        session(master=master)
        seen.append((builder.python, os.environ["PYSPARK_PYTHON"]))
    assert seen == [("/of/the/cluster", "/of/the/cluster")] * 2 + [("script", sys.executable)] * 2
    monkeypatch.delenv("PYSPARK_PYTHON")
    monkeypatch.setattr("pyspark.sql.SparkSession.builder", builder := Builder())
    session(master="spark://cluster:7077")
    assert builder.python == os.environ["PYSPARK_PYTHON"] == sys.executable
