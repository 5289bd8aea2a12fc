"""Waits for Spark's listener bus, which tells listeners of what happened a moment later."""

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

TIMEOUT_MS = 5_000
"""A bus that is that far behind is busy, or one of its listeners hangs."""
LISTENER_THREADS = "spark-listener-group-"
"""How the names of the threads begin in which Spark calls listeners."""


def await_delivery(spark: "SparkSession", timeout_ms: int = TIMEOUT_MS) -> None:
    """Return once the listeners of a session have been told what was posted, or after `timeout_ms`.

    A listener that calls this does not wait, as it would wait for itself. Neither is there anything to wait for with
    Spark Connect and in a session that has been stopped.
    """
    try:
        context = spark.sparkContext
        if context._jvm.java.lang.Thread.currentThread().getName().startswith(LISTENER_THREADS):
            return
        context._jsc.sc().listenerBus().waitUntilEmpty(timeout_ms)
    except Exception:
        log.debug("could not wait for Spark's listener bus", exc_info=True)
