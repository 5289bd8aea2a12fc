"""A ready-made serializer for JSON."""

from __future__ import annotations

import json
from typing import Any

from kafka.serializer.default import DefaultSerializer, Headers


class JsonSerializer(DefaultSerializer):
    """Values as JSON text, written as `json.dumps` does. None is a tombstone, both ways.

    Arguments:
        encoding: name of the encoding of the JSON text.
    """

    def serialize(self, topic: str, headers: Headers, data: Any) -> bytes | None:  # type: ignore[override]
        """Encode a value; raises `TypeError` or `ValueError` for what JSON cannot say.

        Arguments:
            topic: no effect.
            headers: no effect.
            data: what is encoded.
        """
        return None if data is None else json.dumps(data).encode(self.encoding)

    def deserialize(self, topic: str, headers: Headers, data: bytes | None) -> Any:  # type: ignore[override]
        """Decode JSON text; None stays None. Raises `ValueError` for what is not JSON.

        Arguments:
            topic: no effect.
            headers: no effect.
            data: what is decoded.
        """
        return None if data is None else json.loads(bytes(data).decode(self.encoding))
