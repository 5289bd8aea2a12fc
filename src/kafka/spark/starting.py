"""Starting a streaming query on a busy machine, where Spark may give up on a Python process that is slow to start."""

import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from kafka.errors import IllegalArgumentError

if TYPE_CHECKING:
    from pyspark.sql.streaming import DataStreamWriter, StreamingQuery

log = logging.getLogger(__name__)

GAVE_UP = "Python worker failed to connect back"
"""What Spark says after the ten seconds that it gives the Python process of a source."""
_BEFORE = ("Initializing", "Getting offsets")
"""What the status of a query begins with as long as its sources may not have started."""
_LOOK_S = 0.1


def start(
    writer: "DataStreamWriter", *, tries: int = 5, sleep: Callable[[float], object] = time.sleep
) -> "StreamingQuery":
    """Start a streaming query, and again where Spark gave up on a Python process of it; returns once its sources run.

    Spark gives the process in which a source plans ten seconds to start, which is not a setting. Where a machine is too
    busy for that, the query ends before its first micro-batch, and nothing is lost by starting it again.

    Arguments:
        writer: ``frame.writeStream`` with all that is set on it, as one would call its ``start()``.
        tries: how often to start it at the most.
        sleep: lets so many seconds go by.

    Returns the query. One that has ended for another reason, or for the last time, is returned as well: its
    ``awaitTermination()`` raises why. Example::

        query = kafka.spark.start(rows.writeStream.format("kafka_columnar").options(**options))
    """
    if tries < 1:
        raise IllegalArgumentError(f"Expected tries of at least 1, got {tries}")
    for left in reversed(range(tries)):
        query = writer.start()
        try:
            while True:
                if not (query.isActive and query.status["message"].startswith(_BEFORE)):
                    break
                sleep(_LOOK_S)
        except BaseException:  # interrupted: nobody has the query yet who could stop it
            query.stop()
            raise
        if query.isActive or GAVE_UP not in str(query.exception()) or not left:
            break
        log.warning("Spark gave up on a Python process of query %s that was slow to start; starting it again", query.id)
    return query
