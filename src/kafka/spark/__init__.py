"""A Spark source and sink for Kafka, batch and streaming, with the format ``kafka_columnar`` and without a JAR.

Layer 7. Spark finds the format through the top-level module `pyspark_kafka_columnar`. `register` makes it known to a
session that does not find it, and `session` creates a session with suitable settings. `start` starts a query on a busy
machine, `run_available` runs one until it has read everything available at the start, and `upsert` writes the rows that
``outputMode("update")`` would write. `watch` collects the progress reports of running queries, `transactions` shows the
open transactions of a query, and `migrate` describes the differences from Spark's own connector.

Spark calls `batch_reader`, `stream_reader` and `writers`; `spark_calls` wraps each call. `options` are parsed first.
`planning` decides which offsets are read by which tasks, without PySpark or a client. `tasks` moves the data in Spark's
worker processes, with clients that `client_cache` keeps between tasks. `typed` converts keys and values to and from
types other than bytes. `exactly_once` implements the sink's transactions, and `monitoring` reports to users.
"""

from typing import TYPE_CHECKING, Any

from kafka._old_names import of_a_package

if TYPE_CHECKING:
    from kafka.spark.exactly_once.open_transactions import transactions
    from kafka.spark.migration import migrate
    from kafka.spark.monitoring.query_monitor import Watch, watch
    from kafka.spark.options.option_table import OPTIONS, SparkOption, Use
    from kafka.spark.queries import run_available, start, upsert
    from kafka.spark.requirements import SparkRequirementError
    from kafka.spark.sessions import SESSION_SETTINGS, UNCHECKED_ARROW_SETTINGS, Setting, register, session

__all__ = [
    "OPTIONS",
    "SESSION_SETTINGS",
    "UNCHECKED_ARROW_SETTINGS",
    "Setting",
    "SparkOption",
    "SparkRequirementError",
    "Use",
    "Watch",
    "migrate",
    "register",
    "run_available",
    "session",
    "start",
    "transactions",
    "upsert",
    "watch",
]

_HOMES = {
    name: f"kafka.spark.{module}"
    for module, names in {
        "exactly_once.open_transactions": ("transactions",),
        "migration": ("migrate",),
        "options.option_table": ("OPTIONS", "SparkOption", "Use"),
        "queries": ("run_available", "start", "upsert"),
        "requirements": ("SparkRequirementError",),
        "sessions": ("SESSION_SETTINGS", "UNCHECKED_ARROW_SETTINGS", "Setting", "register", "session"),
        "monitoring.query_monitor": ("Watch", "watch"),
    }.items()
    for name in names
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used, because each of Spark's processes needs few of them."""
    return of_a_package(__name__, name, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
