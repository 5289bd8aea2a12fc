"""Kafka as a source and a sink of Spark, batch and streaming, by the format name ``kafka_columnar`` and without a JAR.

Layer 7. Spark finds the format through the top-level module `pyspark_kafka_columnar`. `register` makes it known to a
session that does not find it; `session` makes a session with the settings that serve it; `watch` keeps what Spark
reports of running queries; `migrate` says what is different from Spark's own connector; `upsert` writes what
``outputMode("update")`` gives; `start` starts a query on a busy machine; `run_available` runs one to the end of what
is there.

Planning (`batch_plan`, `stream_plan`, `first_batch`, `ranges`, `limits`, `offsets`, `lookup`, `options`,
`client_options`) is pure and knows neither PySpark nor a client. `cluster_lookup` asks the cluster for it; `read_task`
and `write_task` move the data in Spark's worker processes, over clients that `cache` keeps between tasks; `batch`,
`stream` and `sink` are what Spark calls. `typed` are keys and values of other types than bytes.
`exactly_once` are the sink's transactions; `transactions` shows what a query
has open.
"""

from typing import TYPE_CHECKING, Any

from kafka._old_names import of_a_package

if TYPE_CHECKING:
    from kafka.spark.available import run_available
    from kafka.spark.exactly_once.orphans import transactions
    from kafka.spark.migration import migrate
    from kafka.spark.option_table import OPTIONS, SparkOption, Use
    from kafka.spark.requirements import SparkRequirementError
    from kafka.spark.sessions import SESSION_SETTINGS, UNCHECKED_ARROW_SETTINGS, Setting, register, session
    from kafka.spark.starting import start
    from kafka.spark.upserting import upsert
    from kafka.spark.watching import Watch, watch

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
        "available": ("run_available",),
        "exactly_once.orphans": ("transactions",),
        "migration": ("migrate",),
        "option_table": ("OPTIONS", "SparkOption", "Use"),
        "requirements": ("SparkRequirementError",),
        "sessions": ("SESSION_SETTINGS", "UNCHECKED_ARROW_SETTINGS", "Setting", "register", "session"),
        "starting": ("start",),
        "upserting": ("upsert",),
        "watching": ("Watch", "watch"),
    }.items()
    for name in names
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first asked for: Spark's processes need few of them, and each begins anew."""
    return of_a_package(__name__, name, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
