"""Watches the streaming queries of a session: keeps Spark's reports of their Kafka sources, and writes them to files.

Spark reports through its listener bus, with a short delay. `await_delivery` waits for outstanding reports.
"""

import collections
import json
import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafka.display import check_matplotlib
from kafka.spark.monitoring.progress_reports import QueryProgress, progress_frame, query_progress, to_json
from kafka.spark.monitoring.prometheus_text import QueryState, prometheus_text
from kafka.spark.requirements import check_pyspark

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

KEPT = 1_000
MOST_ENDED = 1_000
"""Maximum number of ended queries to report."""

_WRITING = threading.Lock()
"""This lock is held while a file for Prometheus is replaced. Spark reports the start of a query in the thread that
starts it, and other events in another thread.
"""


class Watch:
    """The reports that `watch` has collected. Thread-safe. A context manager that stops watching on exit.

    Spark reports with a short delay. Each method waits up to five seconds for earlier events, except in a
    `StreamingQueryListener` and with Spark Connect.

    Arguments:
        json_lines: file to which a line is appended for every micro-batch.
        prometheus: file that is replaced with the state of all queries after every micro-batch.
        keep: number of micro-batches to keep in memory, for all queries together.
    """

    def __init__(self, json_lines: Path | None = None, prometheus: Path | None = None, keep: int = KEPT) -> None:
        self._json_lines = json_lines
        self._prometheus = prometheus
        self._lock = threading.Lock()
        self._seen: collections.deque[QueryProgress] = collections.deque(maxlen=keep)
        self._standing: dict[str, QueryState] = {}
        self._troubles: set[str] = set()
        self._stop: Callable[[], None] = lambda: None
        self._catch_up: Callable[[], None] = lambda: None
        """Waits for pending reports; must not be called while the lock is held, or by the listener of this watch."""

    def __enter__(self) -> "Watch":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        lags = ", ".join(f"{query} {'?' if lag is None else lag}" for query, lag in self.lag().items())
        return f"<Watch: {len(self._kept())} micro-batches kept; lag: {lags or 'nothing seen yet'}>"

    def close(self) -> None:
        """Stop watching. Earlier events are still recorded, and the reports are kept."""
        self._catch_up()
        stop, self._stop, self._catch_up = self._stop, lambda: None, lambda: None
        stop()

    @property
    def progress(self) -> list[QueryProgress]:
        """Return the progress of the kept micro-batches, oldest first."""
        self._catch_up()
        return self._kept()

    def _kept(self) -> list[QueryProgress]:
        with self._lock:
            return list(self._seen)

    def lag(self) -> dict[str, int | None]:
        """Return how many offsets the last micro-batch of each query left unread, by the query's name or id."""
        self._catch_up()
        with self._lock:
            newest = [each.newest for each in self._standing.values() if each.newest is not None]
        return {each.query: _sum([source.lag for source in each.sources]) for each in newest}

    def prometheus(self) -> str:
        """Return the state of all queries in Prometheus' text format (0.0.4)."""
        self._catch_up()
        return self._text()

    def _text(self) -> str:
        with self._lock:
            return prometheus_text(list(self._standing.values()))

    def to_pandas(self) -> "pandas.DataFrame":
        """Return the kept micro-batches as a frame, with a row for each partition."""
        return progress_frame(self.progress)

    def plot(self, query: str | None = None) -> "Figure":
        """Plot lag, rates and durations over time, as a figure that notebooks display. Requires the extra "plot".

        Arguments:
            query: the name or id of one query; None for all queries.

        Raises `ImportError` without matplotlib.
        """
        check_matplotlib("Watch.plot()")
        from kafka.spark.monitoring.progress_plot import plot_progress

        return plot_progress([each for each in self.progress if query in (None, each.query, each.query_id)])

    def _started(self, query_id: str, name: str | None) -> None:
        with self._lock:
            self._forget_ended()
            self._standing.setdefault(query_id, QueryState(name or query_id, query_id)).start()
        self._write_prometheus()

    def _forget_ended(self) -> None:
        """Forget the oldest ended queries if there are too many. Each start without a checkpoint is a new query."""
        ended = [query_id for query_id, each in self._standing.items() if not each.running]
        for query_id in ended[: max(0, len(ended) - MOST_ENDED + 1)]:
            del self._standing[query_id]

    def _progressed(self, report: str) -> None:
        progress = query_progress(json.loads(report))
        with self._lock:
            self._seen.append(progress)
            self._standing.setdefault(progress.query_id, QueryState(progress.query, progress.query_id)).add(progress)
        if self._json_lines is not None:
            with self._json_lines.open("a", encoding="utf-8") as file:
                file.write(to_json(progress) + "\n")
        self._write_prometheus()

    def _terminated(self, query_id: str, error: str | None) -> None:
        with self._lock:
            if query_id in self._standing:
                self._standing[query_id].end(failed=error is not None)
        self._write_prometheus()

    def _write_prometheus(self) -> None:
        if self._prometheus is None:
            return
        new = self._prometheus.with_name(f".{self._prometheus.name}.{os.getpid()}")
        with _WRITING:
            new.write_text(self._text(), encoding="utf-8")
            new.replace(self._prometheus)

    def _safely(self, call: Callable[..., None], *arguments: Any) -> None:
        """Call a function. Errors must not propagate to Spark, so each error is logged once."""
        try:
            call(*arguments)
        except Exception as error:
            if repr(error) not in self._troubles:
                self._troubles.add(repr(error))
                log.warning("could not store Spark's report of a query", exc_info=True)


def _sum(lags: list[int | None]) -> int | None:
    known = [each for each in lags if each is not None]
    return sum(known) if len(known) == len(lags) else None


def watch(
    spark: "SparkSession",
    *,
    json_lines: "str | os.PathLike[str] | None" = None,
    prometheus: "str | os.PathLike[str] | None" = None,
    keep: int = KEPT,
) -> Watch:
    """Watch all streaming queries of a session, including later ones: their lag, rates, losses and sizes.

    Arguments:
        spark: a session; a Spark Connect session also works.
        json_lines: file to which a line of JSON is appended for every micro-batch.
        prometheus: file for the state of all queries in Prometheus' text format, for node_exporter's textfile collector
            or a web server. It is replaced atomically.
        keep: number of micro-batches to keep in memory.

    Returns the `Watch`; its `close` ends watching. Reports are processed in a `StreamingQueryListener`, so queries do
    not slow down.
    """
    check_pyspark()
    from pyspark.sql.streaming.listener import (
        QueryIdleEvent,
        QueryProgressEvent,
        QueryStartedEvent,
        QueryTerminatedEvent,
        StreamingQueryListener,
    )

    made = Watch(_path(json_lines), _path(prometheus), keep)

    class Listener(StreamingQueryListener):  # type: ignore[misc]  # PySpark's classes are untyped here
        def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802  # Spark's name
            made._safely(made._started, str(event.id), event.name)

        def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802  # Spark's name
            made._safely(made._progressed, event.progress.json)

        def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802  # Spark's name
            pass

        def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802  # Spark's name
            made._safely(made._terminated, str(event.id), event.exception)

    listener = Listener()
    spark.streams.addListener(listener)
    made._catch_up = lambda: await_delivery(spark)
    made._stop = lambda: spark.streams.removeListener(listener)
    return made


def _path(given: "str | os.PathLike[str] | None") -> Path | None:
    """Return the absolute path, because the program may change its working directory before the listener writes."""
    return None if given is None else Path(given).absolute()


TIMEOUT_MS = 5_000
"""Default time limit; a longer delay means that the listener bus is busy or that a listener hangs."""
LISTENER_THREADS = "spark-listener-group-"
"""Prefix of the names of threads in which Spark calls listeners."""


def await_delivery(spark: "SparkSession", timeout_ms: int = TIMEOUT_MS) -> None:
    """Wait up to `timeout_ms` until the listeners of a session have received all posted events.

    Does not wait in a listener (which would wait for itself), with Spark Connect, or in a stopped session.
    """
    try:
        context = spark.sparkContext
        if context._jvm.java.lang.Thread.currentThread().getName().startswith(LISTENER_THREADS):
            return
        context._jsc.sc().listenerBus().waitUntilEmpty(timeout_ms)
    except Exception:
        log.debug("could not wait for Spark's listener bus", exc_info=True)
