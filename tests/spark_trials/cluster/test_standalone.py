"""A standalone cluster of two workers: packages of the same interpreter, and packages that an archive brings."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path

import pytest

from harness.apache import ApacheKafka
from harness.properties import USERS
from harness.spark_cluster import Standalone
from harness.tls import STORE_PASSWORD

from .trial_support import CLUSTER, EXPECTED, ProgramError, memory_mb, program

SENT_ALONG = ("pyarrow", "pyarrow.libs", "numpy", "numpy.libs", "pandas", "pytz", "tzdata", "dateutil", "six.py",
              "cramjam", "cramjam.libs", "backports", "crc32c")  # fmt: skip
OURS = ("kafka", "kafka_columnar", "pyspark_kafka_columnar")
SOURCES = Path(__file__).resolve().parents[3] / "src"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with Standalone(tmp_path_factory.mktemp("standalone")) as running:
        yield running


def test_the_same_interpreter(cluster, embedded_broker, tmp_path, capsys):
    settings = {**CLUSTER, "spark.master": cluster.url}
    with program(embedded_broker.bootstrap_servers, "same", tmp_path, settings, {"PYSPARK_PYTHON": sys.executable}) as (
        seen,
        pid,
    ):
        with capsys.disabled():
            print("\nMB of the driver:", memory_mb(pid), "of the workers:", memory_mb(*cluster.worker_pids))
        assert {name: seen[name] for name in EXPECTED} == EXPECTED


def test_executors_log_in(cluster, tmp_path):
    module = "org.apache.kafka.common.security.scram.ScramLoginModule"
    with ApacheKafka(tmp_path / "kafka", listeners=("plaintext", "sasl_ssl")) as kafka:
        login = {
            "kafka.security.protocol": "SASL_SSL",
            "kafka.sasl.mechanism": "SCRAM-SHA-512",
            "kafka.sasl.jaas.config": f'{module} required username="alice" password="{USERS["alice"]}";',
            "kafka.ssl.truststore.location": str(kafka.tls_folder / "trust.p12"),
            "kafka.ssl.truststore.password": STORE_PASSWORD,
            "kafka.ssl.truststore.type": "PKCS12",
        }
        settings = {**CLUSTER, "spark.master": cluster.url}
        env = {"PYSPARK_PYTHON": sys.executable}
        servers = kafka.bootstrap("sasl_ssl")
        with program(servers, "secured", tmp_path, settings, env, login) as (seen, _):
            assert {name: seen[name] for name in EXPECTED} == EXPECTED
    assert USERS["alice"] not in (tmp_path / "program.log").read_text()


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """A Python with what the tasks need, and without this package, in a folder of its own."""
    folder = tmp_path_factory.mktemp("archive") / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    installed = Path(sysconfig.get_path("purelib"))
    for name in SENT_ALONG:
        found = installed / name
        if found.is_dir():
            shutil.copytree(found, site / name, ignore=shutil.ignore_patterns("tests", "include", "__pycache__"))
        elif found.exists():
            shutil.copy(found, site)
    for each in installed.glob("*.dist-info"):
        if each.name.partition("-")[0] in SENT_ALONG:
            shutil.copytree(each, site / each.name)
    return folder, site


def archive(environment: Path, target: Path) -> Path:
    with tarfile.open(target, "w:gz", compresslevel=1) as packed:
        packed.add(environment, arcname=".")
    return target


def test_packages_that_an_archive_brings(cluster, embedded_broker, environment, tmp_path):
    folder, site = environment
    settings = {**CLUSTER, "spark.master": cluster.url, "spark.pyspark.driver.python": sys.executable}
    settings["spark.archives"] = f"{archive(folder, tmp_path / 'without.tar.gz')}#environment"
    env = {"PYSPARK_PYTHON": "./environment/bin/python"}
    (tmp_path / "environment").mkdir()
    (tmp_path / "environment" / "bin").mkdir()
    planning = tmp_path / "environment" / "bin" / "python"  # the driver's own, as archives are for executors
    planning.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    planning.chmod(0o755)
    said = "kafka-columnar is not installed in the Python of this Spark process"
    with (
        pytest.raises(ProgramError, match=said),
        program(embedded_broker.bootstrap_servers, "lacking", tmp_path, settings, env),
    ):
        pass
    for name in OURS:
        shutil.copytree(SOURCES / name, site / name, ignore=shutil.ignore_patterns("__pycache__", "*.c"))
    settings["spark.archives"] = f"{archive(folder, tmp_path / 'with.tar.gz')}#environment"
    with program(embedded_broker.bootstrap_servers, "archived", tmp_path, settings, env) as (seen, _):
        assert {name: seen[name] for name in EXPECTED} == EXPECTED
