"""Writes records as Arrow streams and Parquet files, batch by batch."""

import contextlib
from types import TracebackType
from typing import IO, Any, Self, cast

from kafka.cli.consume.selection import Piece

_ROWS = 131_072
"""Minimum number of rows to write at a time, because Parquet needs large row groups."""


class ArrowFile:
    """A Parquet file or an Arrow stream. Other programs can read an Arrow stream while it grows.

    Arguments:
        kind: "parquet" or "arrow".
        file: the output file, which stays open.

    Attributes:
        is_whole: whether the file is complete and has been written to the operating system.
    """

    def __init__(self, kind: str, file: IO[bytes]) -> None:
        import pyarrow

        from kafka.record import arrow_schema

        self.is_whole = False
        self._file = file
        self._sink = pyarrow.PythonFile(cast(Any, file), "w")
        self._schema = arrow_schema()
        if kind == "parquet":
            import pyarrow.parquet

            self._writer: Any = pyarrow.parquet.ParquetWriter(self._sink, self._schema, compression="zstd")
            self._keep = _ROWS
        else:
            self._writer = pyarrow.ipc.new_stream(self._sink, self._schema)
            self._keep = 0
        self._waiting: list[pyarrow.RecordBatch] = []
        self._rows = 0

    def write(self, piece: Piece) -> None:
        """Write records."""
        batch = piece.columns.to_arrow()
        if piece.rows is not None:
            batch = batch.take(piece.rows)
        self._waiting.append(batch)
        self._rows += batch.num_rows
        if self._rows >= self._keep:
            self._write()

    def _write(self) -> None:
        waiting, rows, self._waiting, self._rows = self._waiting, self._rows, [], 0
        if rows:
            import pyarrow

            self._writer.write_table(pyarrow.Table.from_batches(waiting, self._schema))
            if not self._keep:
                self._file.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Complete the file; if writing fails, leave the file as it is."""
        with contextlib.suppress(Exception) if isinstance(error, Exception) else contextlib.nullcontext():
            try:
                self._write()
                self._writer.close()
            except BaseException:
                self._writer.is_open = False  # otherwise a Parquet writer's finalizer would retry, and report an error
                raise
            self._file.flush()
            self.is_whole = True
