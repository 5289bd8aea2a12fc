"""The guides' tables about Spark match the code."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pyspark
import pytest

from kafka.spark import SESSION_SETTINGS, UNCHECKED_ARROW_SETTINGS
from kafka.spark.options.row_schema import COLUMNS
from spark_trials.comparison.programs import PROGRAMS

pytestmark = pytest.mark.once

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "SPARK.md").read_text()
RELIABILITY = (ROOT / "docs" / "RELIABILITY.md").read_text()


def test_the_tables_of_options_match_the_code():
    written = subprocess.run(
        [sys.executable, ROOT / "scripts" / "spark_options.py", "--check"], capture_output=True, text=True, check=False
    )
    assert written.returncode == 0, written.stderr or "docs/SPARK.md is out of date: run scripts/spark_options.py"


def test_every_setting_of_the_session_is_documented_as_it_is():
    for setting in SESSION_SETTINGS + UNCHECKED_ARROW_SETTINGS:
        where = " Masters on this machine only." if setting.local_only else ""
        value = setting.value.replace("|", r"\|")
        assert f"| `{setting.name}` | `{value}` | {setting.why}{where} |" in PAGE


def test_every_column_is_documented():
    for name, kind in COLUMNS.items():
        assert f"`{name}`" in PAGE
        assert kind in PAGE


def test_programs_with_different_results_are_documented():
    told = re.findall(r"^\| ((?:read|stream|write|fault): .+?) \| (.+) \|$", RELIABILITY, re.MULTILINE)
    assert told == [(each.name, each.differs) for each in PROGRAMS if each.differs]
    assert f"runs {len(PROGRAMS)} programs" in RELIABILITY


@pytest.mark.once
def test_documented_settings_of_yarn_and_kubernetes_exist_in_spark():
    page = PAGE.partition("### YARN and Kubernetes")[2].partition("### Memory")[0]
    families = ("spark.yarn.appMasterEnv.", "spark.executorEnv.", "spark.kubernetes.driverEnv.")
    families += tuple(
        f"spark.kubernetes.{who}.{what}." for who in ("driver", "executor") for what in ("secrets", "secretKeyRef")
    )
    named = set(re.findall(r"`(spark\.[\w.]+\w)", page))
    assert len(named) > 10
    wanted = {name: next((each for each in families if name.startswith(each)), name) for name in named}
    missing = set(wanted)
    for jar in (Path(pyspark.__file__).parent / "jars").glob("spark-*.jar"):
        if not re.match(r"spark-(core|yarn|kubernetes|catalyst)_", jar.name):
            continue
        with zipfile.ZipFile(jar) as classes:
            for file in classes.namelist():
                if re.search(r"(/config/|/k8s/Config|/yarn/|SQLConf|SparkConf)", file) and file.endswith(".class"):
                    content = classes.read(file)
                    missing -= {name for name in missing if wanted[name].encode() in content}
    assert not missing
