"""A driver that writes a batch to a target, and kills itself at one of the durable steps."""

from __future__ import annotations

import json
import os
import signal
import sys

from harness.durable_steps import Steps, steps_of
from kafka.pipelines.targets.choice import TARGETS
from kafka.spark import session

RUN = "flights/stream"
ROWS = "id, cast(id % 3 as string) name, timestamp'2026-11-27' ts"


def kill_this_process(point: str) -> None:
    print(f"killed {point}", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)


def main(target: str, given: str, point: str, jvm_options: str) -> None:
    """Write batch 0. `given` is the target's model as JSON, `point` where the process is killed."""
    spark = session(
        "killed",
        **{"spark.driver.memory": "512m", "spark.log.level": "ERROR", "spark.driver.extraJavaOptions": jvm_options},
    )
    steps = Steps(setattr, steps_of(target), kill_this_process)
    steps.stop_at(point)
    TARGETS[target].model_validate(json.loads(given)).write(spark.range(20).selectExpr(*ROWS.split(", ")), RUN, 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
