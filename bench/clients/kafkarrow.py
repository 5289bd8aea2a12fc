"""kafkarrow, a consumer on librdkafka that gives Arrow batches."""

from __future__ import annotations

import importlib
from typing import Any

from bench.job import Job, Watch

peer: Any = importlib.import_module("kafkarrow")
VERSION = str(peer.__version__)
BATCH = 50_000
QUEUED = 100_000
BACKOFF_MS = 1
POLL_MS = 20
"""It waits that long for the rest of a batch, also when a queue is full and nothing more can come."""


def poll_arrow(job: Job, watch: Watch) -> None:
    """Arrow batches."""
    manager = peer.ConsumerManager(
        {
            "bootstrap.servers": job.bootstrap_servers,
            "group.id": "bench",
            "queued.min.messages": str(QUEUED),
            "fetch.queue.backoff.ms": str(BACKOFF_MS),
        },
        [peer.SourceTopic.from_earliest(job.topic)],
        BATCH,
    )
    while not watch.done():
        watch.sums.add_arrow(manager.poll(timeout_ms=POLL_MS))
