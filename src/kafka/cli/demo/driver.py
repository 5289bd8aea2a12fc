"""A Spark driver of the demo, in a process of its own: ``python -m kafka.cli.demo.driver PLAN``.

It reads the plan, runs both queries until they have read what was there, and ends. It ends at once when its standard
input does, which is when the demo has died.
"""

import os
import pathlib
import signal
import sys
import threading

from kafka.cli.demo.pipeline import start
from kafka.cli.demo.plan import Plan, read_plan
from kafka.spark import session, watch

SPARK = {
    "spark.log.level": "WARN",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.showConsoleProgress": "false",
}
"""Settings of the demo's session, beside those of `kafka.spark.session`."""


def run(plan: Plan) -> None:
    """Run the queries to their end; raises what ended one of them."""
    spark = session("kafka demo", **SPARK)
    try:
        with watch(spark, json_lines=plan.progress):
            for query in start(spark, plan):
                query.awaitTermination()
    except Exception as error:
        plan.failure.write_text(" ".join(str(error).split()), encoding="utf-8")
        raise
    finally:
        spark.stop()


def _end_with_standard_input() -> None:
    os.read(sys.stdin.fileno(), 1)  # without a lock, which would hold up the end of the interpreter
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    threading.Thread(target=_end_with_standard_input, daemon=True).start()
    run(read_plan(pathlib.Path(sys.argv[1])))
