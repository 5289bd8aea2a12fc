"""confluent-kafka with what is usually recommended for much data: large fetches, long queues, large batches."""

from __future__ import annotations

from typing import Any

from bench.clients.confluent import VERSION as VERSION
from bench.clients.confluent import read
from bench.job import BATCH_RECORDS, FETCH_BYTES, PARTITION_FETCH_BYTES, Job, Watch

LARGE: dict[str, Any] = {
    "enable.auto.offset.store": False,
    "fetch.max.bytes": FETCH_BYTES,
    "max.partition.fetch.bytes": PARTITION_FETCH_BYTES,
    "queued.min.messages": 1_000_000,
    "queued.max.messages.kbytes": 1 << 20,
}


def poll(job: Job, watch: Watch) -> None:
    """Lists of messages."""
    read(job, watch, LARGE, BATCH_RECORDS)


poll_arrow = poll
