"""Checks the requirements of the source and sink: PySpark, pyarrow and Java."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys

PYSPARK_NEEDED = (4, 0)
"""The first PySpark version whose Python data sources support streams and Arrow batches."""
JAVA_NEEDED = 17
INSTALL = "pip install 'kafka-columnar[spark]'"


class SparkRequirementError(ImportError):
    """PySpark, pyarrow or Java is missing or too old. The message explains how to fix it."""


def check_pyspark() -> None:
    """Raise `SparkRequirementError` if PySpark is missing or too old for the source and sink, or pyarrow is missing."""
    needed = ".".join(map(str, PYSPARK_NEEDED))
    try:
        from pyspark import __version__ as version
    except ImportError as error:
        raise SparkRequirementError(f"kafka.spark requires PySpark {needed} or later: {INSTALL}") from error
    found = re.match(r"(\d+)\.(\d+)", version)
    if found is not None and (int(found[1]), int(found[2])) < PYSPARK_NEEDED:
        raise SparkRequirementError(
            f"kafka.spark requires PySpark {needed} or later, not {version}: {INSTALL} --upgrade. Spark before 4.0 "
            "has no Python data sources: kafka.spark.functions, kafka.read() and send_arrow() work there; see "
            "docs/SPARK.md, Spark 3.5"
        )
    if not _is_installed("pyarrow"):
        raise SparkRequirementError(
            f"kafka.spark requires pyarrow, which is not installed in {sys.executable}: {INSTALL}"
        )


def _is_installed(package: str) -> bool:
    """Return whether a package is installed, without importing it, because the import is slow."""
    try:
        return importlib.util.find_spec(package) is not None
    except ValueError:  # `sys.modules` contains a module without a spec, or None
        return sys.modules.get(package) is not None


def find_java() -> str | None:
    """Return the path of the ``java`` that Spark starts: in JAVA_HOME if that is set, otherwise on the PATH."""
    home = os.environ.get("JAVA_HOME")
    if not home:
        return shutil.which("java")
    java = os.path.join(home, "bin", "java")
    return java if os.path.exists(java) else None


def java_version(java: str) -> str:
    """Return the line with the version from ``java -version``, or the error if the command cannot be run."""
    try:
        answer = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=30, check=False, errors="replace"
        )
    except (OSError, subprocess.SubprocessError) as error:
        return f"{java} does not run: {error}"
    lines = (answer.stderr or answer.stdout).strip().splitlines()
    # Before the version, Java prints the options from JDK_JAVA_OPTIONS or JAVA_TOOL_OPTIONS.
    return next((line for line in lines if ' version "' in line), lines[0] if lines else "").strip()


def check_java() -> None:
    """Raise `SparkRequirementError` if the Java that Spark would start is missing or too old."""
    java = find_java()
    if java is None:
        home = os.environ.get("JAVA_HOME")
        where = f"JAVA_HOME is {home!r}, which does not contain bin/java" if home else "there is no 'java' on the PATH"
        raise SparkRequirementError(f"Spark requires Java {JAVA_NEEDED} or later: {where}")
    said = java_version(java)
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    if found is None or int(found[1]) < JAVA_NEEDED:
        raise SparkRequirementError(f"Spark requires Java {JAVA_NEEDED} or later; {java} is: {said}")
