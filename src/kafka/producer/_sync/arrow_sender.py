# Written by scripts/twins.py from kafka/producer/_async/arrow_sender.py: change that file, not this one.
"""Sends the rows of one table or batch: each chunk is encoded, given memory, and put into the queues."""

from __future__ import annotations

from typing import Any

from kafka.display.progress import ProgressReport, Tell
from kafka.producer.arrow.arrow_encoder import ArrowEncoder
from kafka.producer.arrow.arrow_future import FutureArrowResult
from kafka.producer.arrow.arrow_tables import typed_rows
from kafka.producer.batch.memory_pool import Reservation
from kafka.producer.core import ProducerCore
from kafka.producer.runners import ThreadRunner


def send_rows(
    core: ProducerCore, runner: ThreadRunner, topic: str, data: Any, key: Any, value: Any, progress: bool | Tell
) -> FutureArrowResult:
    """Send all rows; waits while there is no memory.

    Arguments:
        core: the producer.
        runner: how it waits.
        topic: where the rows go; its partitions are known.
        data: the rows, see `as_rows`.
        key, value: write typed columns, see `typed_rows`.
        progress: see `ProgressReport`.
    """
    typed = key is not None or value is not None
    rows_given = runner.work(typed_rows, data, key, value) if typed else data
    encoder = ArrowEncoder(core, topic, rows_given)
    chunks = encoder.chunks()
    taken = 0
    with ProgressReport(progress, encoder.rows, "sending") as report:
        while True:
            chunk = runner.work(next, chunks, None)
            if chunk is None:
                break
            for rows in chunk:
                reserved = Reservation()
                try:
                    with encoder.progress():
                        runner.acquire(core, len(rows.data), reserved)
                    encoder.enqueue(rows, reserved)
                finally:
                    core.buffer.give_back(reserved)
                taken += rows.rows
                report.reached(taken)
    return FutureArrowResult(core, runner.loop, encoder.batches)
