"""What the broker has to remember of itself: the cluster's id, and the producer ids that were given out."""

import base64
import json
import uuid
from pathlib import Path
from typing import Final

from kafka.broker.log.files import replace_file

_BLOCK: Final = 1000


class Identity:
    """Kept in `data_dir`; producer ids are reserved on disk in blocks, so that giving one out costs no write."""

    def __init__(self, data_dir: Path, sync: bool) -> None:
        self._path = data_dir / "meta.json"
        self._sync = sync
        if self._path.exists():
            known = json.loads(self._path.read_bytes())
            self.cluster_id: str = known["cluster_id"]
            self._next_producer_id: int = known["next_producer_id"]
        else:
            # Kafka writes ids of clusters as 22 characters of URL-safe base64.
            self.cluster_id = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
            self._next_producer_id = 0
        self._reserved_until = self._next_producer_id
        self._save()

    def next_producer_id(self) -> int:
        """A producer id that was never given out before, whatever happens to the process."""
        producer_id = self._next_producer_id
        self._next_producer_id += 1
        if producer_id >= self._reserved_until:
            self._reserved_until = producer_id + _BLOCK
            self._save()
        return producer_id

    def _save(self) -> None:
        known = {"cluster_id": self.cluster_id, "next_producer_id": self._reserved_until}
        replace_file(self._path, json.dumps(known).encode(), self._sync)
