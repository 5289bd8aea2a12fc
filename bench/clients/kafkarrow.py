"""kafkarrow, a consumer on librdkafka that gives Arrow batches."""

from __future__ import annotations

import importlib
from typing import Any

from bench.job import BATCH_RECORDS, FETCH_BYTES, PARTITION_FETCH_BYTES, Job, Watch

peer: Any = importlib.import_module("kafkarrow")
VERSION = str(peer.__version__)


def poll_arrow(job: Job, watch: Watch) -> None:
    """Arrow batches."""
    manager = peer.ConsumerManager(
        {
            "bootstrap.servers": job.bootstrap_servers,
            "group.id": "bench",
            "fetch.max.bytes": str(FETCH_BYTES),
            "receive.message.max.bytes": str(FETCH_BYTES + (1 << 20)),
            "max.partition.fetch.bytes": str(PARTITION_FETCH_BYTES),
            "queued.min.messages": "500000",
            "queued.max.messages.kbytes": "262144",
        },
        [peer.SourceTopic.from_earliest(job.topic)],
        10 * BATCH_RECORDS,  # three times as fast as with batches as small as those of the others
    )
    while not watch.done():
        watch.sums.add_arrow(manager.poll(timeout_ms=1000))
