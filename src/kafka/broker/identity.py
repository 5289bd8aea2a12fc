"""What the broker has to remember about itself: the cluster's id, and the producer ids that were given out."""

import base64
import json
import logging
import random
from pathlib import Path
from typing import Final

from kafka.broker.log.files import keep_damaged, replace_file

log = logging.getLogger(__name__)

_BLOCK: Final = 1000


class Identity:
    """Kept in `data_dir`; producer ids are reserved on disk in blocks, so that giving one out costs no write.

    `now_ms` is the wall clock, which begins the producer ids anew where it is lost which ones were given out.
    """

    def __init__(self, data_dir: Path, sync: bool, randomness: random.Random, now_ms: int) -> None:
        self._path = data_dir / "meta.json"
        self._sync = sync
        # Kafka writes ids of clusters as 22 characters of URL-safe base64.
        self.cluster_id = base64.urlsafe_b64encode(randomness.randbytes(16)).decode().rstrip("=")
        self._next_producer_id = 0
        if self._path.exists():
            self._load(now_ms)
        self._reserved_until = self._next_producer_id
        self._save()

    def _load(self, now_ms: int) -> None:
        try:
            known = json.loads(self._path.read_bytes())
            self.cluster_id, self._next_producer_id = str(known["cluster_id"]), int(known["next_producer_id"])
        except (ValueError, LookupError, TypeError) as error:
            # Far above every id that can have been given out until now, for none may come twice.
            self._next_producer_id = now_ms * _BLOCK
            log.error(
                "%s is damaged (%s: %s); it is kept as %s. The cluster has a new id, and producer ids begin at %d",
                self._path,
                type(error).__name__,
                error,
                keep_damaged(self._path).name,
                self._next_producer_id,
            )

    def next_producer_id(self) -> int:
        """A producer id that was never given out before, whatever happens to the process; raises OSError."""
        producer_id = self._next_producer_id
        if producer_id >= self._reserved_until:
            self._save(producer_id + _BLOCK)
            self._reserved_until = producer_id + _BLOCK
        self._next_producer_id += 1
        return producer_id

    def _save(self, reserved_until: int | None = None) -> None:
        until = self._reserved_until if reserved_until is None else reserved_until
        known = {"cluster_id": self.cluster_id, "next_producer_id": until}
        replace_file(self._path, json.dumps(known).encode(), sync_name=self._sync)
