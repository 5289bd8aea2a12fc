"""The Python that Spark runs on this machine: this one, without the copy of PySpark that Spark puts before all others.

Spark starts a process for each kind of work, and puts ``$SPARK_HOME/python/lib/pyspark.zip`` at the head of its path.
No byte code is kept of what lies in an archive, so each of these processes compiles PySpark anew: half a second of
processor time, five times before the first row of a query. Where the same PySpark is installed as files, its byte code
is there.
"""

import atexit
import functools
import os
import shlex
import shutil
import sys
import sysconfig
import tempfile
from pathlib import Path

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
    """The path of a program for PYSPARK_PYTHON: this interpreter, or a script that runs it without Spark's archive.

    The script lies in a temporary folder, which is removed when this process ends. It is left out where it would not
    find the same PySpark, or could not be run.
    """
    return _script() if _is_installed_as_files() else sys.executable


def _is_installed_as_files() -> bool:
    """Whether this interpreter finds Spark's own PySpark among its packages."""
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
    return str(script) if os.access(script, os.X_OK) else sys.executable  # no: the folder is mounted noexec


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:  # not in a fork, whose parent still needs it
        shutil.rmtree(folder, ignore_errors=True)
