"""Creates files in the storage of an Iceberg table, from Spark's tasks.

The table's own file access is used, with the credentials from the catalog, so tasks need no configuration.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyiceberg.io import FileIO


@dataclasses.dataclass(frozen=True)
class IcebergStorage:
    """The directory of an Iceberg table.

    Arguments:
        location: the location of the table, a URI.
        properties: properties of the table's `FileIO`, with credentials.
    """

    location: str
    properties: Mapping[str, str] = dataclasses.field(repr=False)

    def create(self, path: str) -> Any:
        """Create a file and return a binary stream. The path is relative to the table's location."""
        return self._io.new_output(self._full(path)).create()

    def delete(self, path: str) -> None:
        """Delete a file; does nothing if the file does not exist."""
        with contextlib.suppress(FileNotFoundError):
            self._io.delete(self._full(path))

    @functools.cached_property
    def _io(self) -> FileIO:
        from pyiceberg.io import load_file_io

        return load_file_io(dict(self.properties), self.location)

    def _full(self, path: str) -> str:
        return f"{self.location}/{path}"

    def __getstate__(self) -> dict[str, Any]:
        return {"location": self.location, "properties": self.properties}  # without the opened file access

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
