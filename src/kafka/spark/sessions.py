"""Spark sessions for the Kafka source and sink: suitable settings, and the Python interpreter that Spark starts.

With a local master, this is the current interpreter, without the copy of PySpark that Spark puts first on its path.
Spark starts a process for each kind of work, with ``$SPARK_HOME/python/lib/pyspark.zip`` at the start of its path. Byte
code is not cached for an archive, so each of these processes compiles PySpark again. This takes half a second of CPU
time, five times before the first row of a query. If the same PySpark is installed as files, its byte code is cached.
"""

import atexit
import dataclasses
import functools
import os
import pkgutil
import re
import shlex
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from kafka.spark.requirements import check_java, check_pyspark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclasses.dataclass(frozen=True, slots=True)
class Setting:
    """A setting of a Spark session.

    Arguments:
        name: Spark's name for the setting.
        value: the value that `session` sets.
        why: the purpose of the setting, in a sentence.
        local_only: whether the setting only applies to masters on this machine (``local``, ``local[4]``, ...).
    """

    name: str
    value: str
    why: str
    local_only: bool = False


_ARROW_UNCHECKED = "-Darrow.enable_unsafe_memory_access=true -Darrow.enable_null_check_for_get=false"
_ARROW_WHY = (
    "Arrow skips bounds checks when it reads values, which take a sixth of the JVM's time in a read. This applies to "
    "the whole JVM: an error in other code that uses Arrow can then crash it."
)

UNCHECKED_ARROW_SETTINGS: tuple[Setting, ...] = (
    Setting("spark.executor.defaultJavaOptions", _ARROW_UNCHECKED, _ARROW_WHY),
    Setting(
        "spark.driver.defaultJavaOptions",
        _ARROW_UNCHECKED,
        "The same, for a driver that runs the tasks.",
        local_only=True,
    ),
)
"""Settings that `session` adds with ``arrow_bounds_checks=False``."""

SESSION_SETTINGS: tuple[Setting, ...] = (
    Setting(
        "spark.python.unix.domain.socket.enabled",
        "true",
        "Tasks communicate with their Python process over a Unix domain socket: 10 to 25 % more rows per second, and "
        "40 ms less per task.",
    ),
    Setting(
        "spark.sql.execution.arrow.pyspark.enabled",
        "true",
        "toPandas() transfers Arrow batches instead of pickled rows.",
    ),
    Setting(
        "spark.sql.redaction.options.regex",
        "(?i)url|secret|password|passphrase|token|jaas|keystore[.]key",
        "Plans and the UI hide options with secrets, including PEM keys, which Spark's default shows.",
    ),
    Setting("spark.driver.host", "127.0.0.1", "Listens only on this machine.", local_only=True),
    Setting("spark.driver.bindAddress", "127.0.0.1", "Listens only on this machine.", local_only=True),
    Setting("spark.ui.enabled", "false", "No web server is started.", local_only=True),
    Setting(
        "spark.sql.shuffle.partitions",
        "4",
        "As many shuffle tasks as a small machine can use, instead of 200; a stateful stream keeps the number it "
        "started with.",
        local_only=True,
    ),
)
"""Settings that `session` makes, in addition to PYSPARK_PYTHON. Use these if you build your own session."""


def session(
    app_name: str = "kafka-columnar",
    master: str | None = "default",
    *,
    arrow_bounds_checks: object = True,  # with bool, type checkers would reject **dict[str, str]
    **conf: str,
) -> "SparkSession":
    """Return a Spark session that reads and writes Kafka with ``format("kafka_columnar")``.

    Sets `SESSION_SETTINGS`, and PYSPARK_PYTHON to this interpreter, so that Spark's processes have the same packages
    (on a cluster, only if PYSPARK_PYTHON is not set). With a local master, these processes import PySpark from this
    interpreter's packages instead of Spark's archive, which each of them would compile again.

    Arguments:
        app_name: the name shown in Spark's logs.
        master: Spark's master, or ``sc://HOST:PORT`` for a server of Spark Connect. None leaves it to Spark; "default"
            is ``local[2]``, or what spark-submit or the environment variable SPARK_REMOTE chooses.
        arrow_bounds_checks: False also sets `UNCHECKED_ARROW_SETTINGS`: reads are faster, but accesses to Arrow memory
            are no longer checked anywhere in the JVM.
        conf: more Spark settings, which take precedence. Their names contain dots, so pass them as
            ``session(**{"spark.driver.memory": "2g"})``.

    Raises `SparkRequirementError`, an `ImportError`, if PySpark or Java is missing or too old. If a session is running,
    it is returned with the settings that can still be changed. `register` is only called if Spark cannot find the
    format, because Spark logs a warning in every query if a format is registered twice.
    """
    check_pyspark()
    from pyspark.sql import SparkSession

    if master == "default":
        master = None if is_chosen() else "local[2]"
    if _starts_java(master, conf):
        check_java()
    local = master is not None and re.match(r"local(\[|-cluster|$)", master) is not None
    if local:
        os.environ["PYSPARK_PYTHON"] = worker_python()
    elif "PYSPARK_PYTHON" not in os.environ:
        os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.appName(app_name)
    remote = _is_remote(master, conf)
    if master is not None:
        builder = builder.remote(master) if master.startswith(_REMOTE) else builder.master(master)
    for setting in (*SESSION_SETTINGS, *(() if arrow_bounds_checks else UNCHECKED_ARROW_SETTINGS)):
        if setting.name.startswith("spark.sql.") if remote else local or not setting.local_only:
            builder = builder.config(setting.name, setting.value)
    for name, value in conf.items():
        builder = builder.config(name, value)
    try:
        spark = builder.getOrCreate()
    finally:
        if local:  # Spark has read the variable; other child processes should use the interpreter itself
            os.environ["PYSPARK_PYTHON"] = sys.executable
    if not _found_by_spark():
        register(spark)
    return spark


_REMOTE = "sc://"


def is_chosen() -> bool:
    """Return whether spark-submit, or SPARK_REMOTE for Spark Connect, has chosen the master."""
    return "PYSPARK_GATEWAY_PORT" in os.environ or "SPARK_REMOTE" in os.environ


def _is_remote(master: str | None, conf: Mapping[str, str]) -> bool:
    """Return whether the session is one of Spark Connect, whose server already has the settings that are not SQL's."""
    given = master or conf.get("spark.remote") or os.environ.get("SPARK_REMOTE") or ""
    return given.startswith(_REMOTE)


def _starts_java(master: str | None, conf: Mapping[str, str]) -> bool:
    """Return whether this process will start a JVM; False if a JVM is running, or with Spark Connect."""
    from pyspark import SparkContext

    if master is None or master.startswith(_REMOTE) or "spark.remote" in conf or "SPARK_REMOTE" in os.environ:
        return False
    return SparkContext._gateway is None


def _found_by_spark() -> bool:
    """Return whether Spark finds `pyspark_kafka_columnar`. Spark's search lists folders, and ignores import hooks."""
    return any(module.name == "pyspark_kafka_columnar" for module in pkgutil.iter_modules())


def register(spark: "SparkSession") -> None:
    """Make ``format("kafka_columnar")`` known to a session.

    Arguments:
        spark: the session.

    Normally, Spark finds the format through the module `pyspark_kafka_columnar`. Register it for sessions that looked
    for formats before the package was installed, for installations that Spark does not find (import hooks, as in some
    editable installs), and for packages sent with a Spark Connect session. If Spark has already found the format, it
    logs a harmless warning that one registration replaces the other.
    """
    check_pyspark()
    from pyspark_kafka_columnar import DefaultSource

    spark.dataSource.register(DefaultSource)


_SCRIPT = """#!/bin/sh
kept=
set -f
IFS=:
for each in $PYTHONPATH; do
    case $each in */python/lib/pyspark.zip) ;; *) kept=$kept${{kept:+:}}$each ;; esac
done
unset IFS
PYTHONPATH=$kept exec {python} "$@"
"""


def worker_python() -> str:
    """Return a value for PYSPARK_PYTHON: this interpreter, or a script that runs it without Spark's archive.

    The script is in a temporary folder, which is removed when this process exits. The interpreter itself is returned if
    the script would not find the same PySpark or could not be executed.
    """
    return _script() if _is_installed_as_files() else sys.executable


def _is_installed_as_files() -> bool:
    """Return whether Spark's PySpark is installed as files in this interpreter's packages."""
    import pyspark

    home = Path(pyspark.__file__).parent
    spark = Path(os.environ.get("SPARK_HOME") or home)
    packages = {Path(sysconfig.get_path(name)).resolve() for name in ("purelib", "platlib")}
    return os.name == "posix" and home.parent.resolve() in packages and spark.resolve() == home.resolve()


@functools.cache
def _script() -> str:
    folder = tempfile.mkdtemp(prefix="kafka-spark-python-")
    atexit.register(_remove, folder, os.getpid())
    script = Path(folder) / "python"
    script.write_text(_SCRIPT.format(python=shlex.quote(sys.executable)))
    script.chmod(0o700)
    return str(script) if os.access(script, os.X_OK) else sys.executable  # the folder may be mounted noexec


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:  # in a forked child, the parent still needs the folder
        shutil.rmtree(folder, ignore_errors=True)
