"""Kafka as a source and a sink of Spark, batch and streaming, by the format name ``kafka_columnar`` and without a JAR.

Layer 7. Spark finds the format through the top-level module `pyspark_kafka_columnar`. `register` makes it known to a
session that does not find it; `session` makes a session with suitable settings; `watch` keeps what Spark reports of
running queries; `migrate` says what is different from Spark's own connector; `upsert` writes what
``outputMode("update")`` gives; `start` starts a query on a busy machine; `run_available` runs one until it has read
everything that was there at the start.

`batch`, `stream` and `sink` are what Spark calls, each call inside `calls`. `options` are parsed first; `planning` says
which offsets are read in which tasks, and knows neither PySpark nor a client; `tasks` moves the data in Spark's worker
processes, with clients that `client_cache` keeps between tasks. `typed` are keys and values of other types than bytes.
`exactly_once` are the sink's transactions; `transactions` shows what a query has open. `monitoring` is for people.
"""

from typing import TYPE_CHECKING, Any

from kafka._old_names import of_a_package

if TYPE_CHECKING:
    from kafka.spark.available import run_available, start
    from kafka.spark.exactly_once.open_transactions import transactions
    from kafka.spark.migration import migrate
    from kafka.spark.monitoring.query_monitor import Watch, watch
    from kafka.spark.options.option_table import OPTIONS, SparkOption, Use
    from kafka.spark.requirements import SparkRequirementError
    from kafka.spark.sessions import SESSION_SETTINGS, UNCHECKED_ARROW_SETTINGS, Setting, register, session
    from kafka.spark.upserting import upsert

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
        "available": ("run_available", "start"),
        "exactly_once.open_transactions": ("transactions",),
        "migration": ("migrate",),
        "options.option_table": ("OPTIONS", "SparkOption", "Use"),
        "requirements": ("SparkRequirementError",),
        "sessions": ("SESSION_SETTINGS", "UNCHECKED_ARROW_SETTINGS", "Setting", "register", "session"),
        "upserting": ("upsert",),
        "monitoring.query_monitor": ("Watch", "watch"),
    }.items()
    for name in names
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used: each of Spark's processes imports again, and needs few of them."""
    return of_a_package(__name__, name, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
