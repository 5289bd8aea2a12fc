"""What `send_arrow()` takes, for type checkers: whatever gives Arrow data through the Arrow C interfaces."""

from collections.abc import Mapping
from typing import Any, Protocol


class ArrowStream(Protocol):
    """A table or a stream, of pyarrow, polars, pandas, DuckDB, arro3 and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A capsule of an ``ArrowArrayStream``."""


class ArrowArray(Protocol):
    """A batch."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> Any:
        """Two capsules, of an ``ArrowSchema`` and an ``ArrowArray``."""


ArrowData = ArrowStream | ArrowArray | Mapping[str, Any]
