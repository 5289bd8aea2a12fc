"""The Spark session of ``kafka pipeline`` commands, and the options ``--master``, ``--conf`` and ``-v``.

A command uses the session that exists, as in a program that calls the command, or the JVM of spark-submit. Otherwise it
starts one with `kafka.spark.session`. Without ``-v``, Spark logs errors to a file in the pipeline's directory, because
the command itself reports errors.
"""

import contextlib
import dataclasses
import functools
import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kafka.cli.common_options import log_from, pairs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kafka.pipelines.declaration import Declaration

R = TypeVar("R")

MASTER = "local[*]"
"""Spark's master, unless the user or spark-submit chooses another one."""
_LOG_LEVEL = "spark.log.level"
_LOG_LEVELS = ("ERROR", "WARN", "INFO")
"""Spark's log level without ``-v``, with ``-v`` and with ``-vv``."""
_MOST_LOG = 1 << 20
"""Size in bytes from which a log file is replaced."""
_PYSPARK_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""Loggers of PySpark that print each error as JSON, before it is raised."""


@dataclasses.dataclass(frozen=True, slots=True)
class SessionChoice:
    """The session that the user chose.

    Arguments:
        master: Spark's master, or the URL of a server of Spark Connect; None for the default.
        conf: settings of the session, by Spark's names.
        verbose: how many levels more than errors to log.
    """

    master: str | None
    conf: Mapping[str, str]
    verbose: int = 0

    @contextlib.contextmanager
    def session(self, name: str, log: Path) -> Iterator["SparkSession"]:
        """Provide the session, and stop it at the end if it was started here.

        Arguments:
            name: the name of the application, if a session is started.
            log: file to which Spark logs without ``-v``.
        """
        from kafka.spark import session

        running = _running()
        if running is not None:
            with self._quiet():
                yield session(name, None, **self.conf) if self.conf else running
            return
        with self._quiet():
            with contextlib.nullcontext() if self.verbose else _redirected(log):  # a JVM keeps its standard error
                spark = session(name, self._master(), **self._conf())
            try:
                yield spark
            except BaseException:
                with contextlib.suppress(Exception):  # an interrupted call leaves the connection to the JVM unusable
                    spark.stop()
                raise
            spark.stop()

    def _master(self) -> str | None:
        if self.master is not None or "spark.master" in self.conf:
            return self.master
        from kafka.spark.sessions import is_chosen

        return None if is_chosen() else MASTER

    def _conf(self) -> dict[str, str]:
        if self.master is not None and self.master.startswith("sc://"):
            return dict(self.conf)  # the server of Spark Connect logs
        level = _LOG_LEVELS[min(self.verbose, len(_LOG_LEVELS) - 1)]
        return {_LOG_LEVEL: level, "spark.ui.showConsoleProgress": "false"} | dict(self.conf)

    @contextlib.contextmanager
    def _quiet(self) -> Iterator[None]:
        """Disable the loggers of PySpark that repeat errors as JSON."""
        if self.verbose:
            yield
            return
        loggers = [_pyspark_logger(name) for name in _PYSPARK_LOGGERS]
        before = [each.disabled for each in loggers]
        for each in loggers:
            each.disabled = True
        try:
            yield
        finally:
            for each, disabled in zip(loggers, before, strict=True):
                each.disabled = disabled


def _pyspark_logger(name: str) -> logging.Logger:
    try:
        from pyspark.logger import PySparkLogger
    except ImportError:  # PySpark before 4.0
        return logging.getLogger(name)
    found: logging.Logger = PySparkLogger.getLogger(name)  # PySpark cannot use a logger of another class
    return found


def log_file(declaration: "Declaration", what: str) -> Path:
    """Return the file to which Spark logs.

    Arguments:
        declaration: the pipeline.
        what: the command.
    """
    from kafka.pipelines.directories import directory_of

    return directory_of(declaration).base / f"spark-{what}.log"


@contextlib.contextmanager
def _redirected(log: Path) -> Iterator[None]:
    """Append standard error to a file, for processes that are started inside the block."""
    log.parent.mkdir(parents=True, exist_ok=True)
    sys.stderr.flush()
    mode = "wb" if log.exists() and log.stat().st_size > _MOST_LOG else "ab"
    original = os.dup(2)
    try:
        with log.open(mode) as file:
            os.dup2(file.fileno(), 2)
        yield
    finally:
        sys.stderr.flush()
        os.dup2(original, 2)
        os.close(original)


def _running() -> "SparkSession | None":
    from pyspark.sql import SparkSession

    active: SparkSession | None = SparkSession.getActiveSession()
    return active


def with_session(command: Callable[..., R]) -> Callable[..., R]:
    """Add ``--master``, ``--conf`` and ``-v``; the command gets the keyword argument `choice`, a `SessionChoice`."""

    @functools.wraps(command)
    def run(*args: Any, master: str | None, conf: tuple[str, ...], verbose: int, **given: Any) -> R:
        if verbose:
            log_from(click.get_current_context(), None, "INFO" if verbose == 1 else "DEBUG")
        return command(*args, choice=SessionChoice(master, pairs(conf), verbose), **given)

    master = click.option(
        "--master",
        metavar="MASTER",
        help="Spark's master, or sc://HOST:PORT for Spark Connect. "
        f"[default: {MASTER}; under spark-submit, the one that it chooses]",
    )
    conf = click.option("--conf", multiple=True, metavar="NAME=VALUE", help="Setting of the Spark session; repeatable.")
    verbose = click.option(
        "-v", "--verbose", count=True, help="Show log messages of Spark and of the clients; -vv shows more."
    )
    noted: Callable[..., R] = master(conf(verbose(run)))
    return noted
