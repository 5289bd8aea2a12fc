"""Writes records to standard output or a file."""

import contextlib
import errno
import os
import pathlib
import select
import stat
import sys
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import IO, Any, Self, TypeVar

import click

from kafka.cli.consume.formats import Csv, Format, Style, text_format
from kafka.cli.consume.selection import Piece
from kafka.cli.failures import Uninterrupted
from kafka.cli.file_formats import check_can_write, check_ending, check_installed, format_of

T = TypeVar("T")


class RecordSink:
    """Writes records; Ctrl-C takes effect only after the current write is complete.

    Arguments:
        name: a format's name, or a template.
        file: the file to write, which is overwritten; None: standard output.
        format: the text format; None for Arrow's formats.
        tee: another sink for the same records.

    Attributes:
        records: number of records written.
        is_open: whether the output has been opened.
        is_arrow: whether records are written as Arrow columns.
    """

    def __init__(
        self, name: str, file: pathlib.Path | None, format: Format | None, tee: "RecordSink | None" = None
    ) -> None:
        self.records = 0
        self.is_open = False
        self._is_whole = name != "parquet"
        self.is_arrow: bool = format is None or (tee is not None and tee.is_arrow)
        self._tee = tee
        self._name = name
        self._format = format
        self._file = file
        self._whole = Uninterrupted()

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            stack.enter_context(self._whole)
            with self._whole.block():  # an Arrow file without its header cannot be read
                if self._tee is not None:
                    with self._tee._named():
                        self._tee._open(stack)
                with self._named():
                    self._open(stack)
            self._stack = stack.pop_all()
        return self

    def _open(self, stack: contextlib.ExitStack) -> None:
        """Open the file, and write the bytes before the first record."""
        self._out: IO[bytes] = sys.stdout.buffer
        if self._file is not None:
            self._out = self._entered(stack, self._file.open("wb"))
        self.is_open = True
        self._is_unread = _reader_watch(self._out)
        self._arrow = None
        if self._format is None:
            from kafka.cli.consume.arrow_formats import ArrowFile

            self._arrow = self._entered(stack, ArrowFile(self._name, self._out))
        else:
            self._put(self._format.begin())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)
        for sink in (self, self._tee):
            if sink is not None and sink._arrow is not None:
                sink._is_whole = sink._arrow.is_whole

    @property
    def is_safe(self) -> bool:
        """Whether written records have reached the operating system; for Parquet, once the file is complete."""
        return self._is_whole and (self._tee is None or self._tee.is_safe)

    def write(self, piece: Piece, written: Callable[[Piece], None]) -> None:
        """Write records, and hand them to the operating system.

        Arguments:
            written: called once the records are written; Ctrl-C cannot interrupt between the write and this call.
        """
        data = self._encoded(piece)
        copy = b"" if self._tee is None else self._tee._encoded(piece)
        with self._whole.block():
            if self._tee is not None:
                with self._tee._named():
                    self._tee._write(piece, copy)
            with self._named():
                self._write(piece, data)
            self.records += len(piece)
            written(piece)

    def _entered(self, stack: contextlib.ExitStack, manager: contextlib.AbstractContextManager[T]) -> T:
        """Enter a context manager, whose errors on leaving get the name of the file."""

        def leave(*error: Any) -> bool | None:
            with self._named():
                return manager.__exit__(*error)

        entered = manager.__enter__()
        stack.push(leave)
        return entered

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        """Add the name of the file to errors, such as that of a full disk."""
        try:
            yield
        except OSError as error:
            if self._file is not None and error.filename is None:
                error.filename = str(self._file)
            raise

    def _encoded(self, piece: Piece) -> bytes:
        return self._format.encode(piece) if self._format is not None and len(piece) else b""

    def _write(self, piece: Piece, data: bytes) -> None:
        if self._arrow is not None and len(piece):
            self._arrow.write(piece)
        elif data:
            self._put(data)

    @property
    def remark(self) -> str | None:
        """A note about information that was lost in the output; None if nothing was lost."""
        if not isinstance(self._format, Csv) or not self._format.ambiguous:
            return None if self._tee is None else self._tee.remark
        return (
            f"csv has empty fields for {self._format.ambiguous:,} null values or empty keys, which 'kafka produce' "
            "reads as empty values and null keys; give both commands --null TEXT to tell them apart"
        )

    def check_reader(self) -> None:
        """Raise `BrokenPipeError` if the output no longer has a reader, before the next write would fail."""
        if self._is_unread is not None and self._is_unread():
            raise BrokenPipeError(errno.EPIPE, "the reader of the output is gone")

    def _put(self, data: bytes) -> None:
        self._out.write(data)
        self._out.flush()


def _reader_watch(out: IO[bytes]) -> Callable[[], bool] | None:
    """Return a function that checks whether a pipe has lost its reader; None if `out` is not a pipe, and on Windows."""
    if sys.platform == "win32":
        return None
    try:
        if not stat.S_ISFIFO(os.fstat(out.fileno()).st_mode):
            return None
    except OSError:  # not a real file, as in tests
        return None
    pipe = select.poll()
    pipe.register(out.fileno(), 0)
    return lambda: any(event & select.POLLERR for _, event in pipe.poll(0))


def open_sink(
    name: str | None,
    file: pathlib.Path | None,
    as_json: bool,
    delimiter: bytes,
    separator: bytes | None,
    null: bytes,
    encoding: str | None,
    *,
    colors: bool = False,
    as_text: bool = False,
    tee: RecordSink | None = None,
) -> RecordSink:
    """Return a sink for a format, by default the one implied by the file name. The file is not opened yet.

    Arguments:
        as_json: whether JSON is the default format.
        colors: whether standard output gets colours.
        as_text: whether JSON values are written as text in JSON.
        tee: another sink for the same records.

    Raises `click.UsageError`, and `ModuleNotFoundError` if a library that the format needs is not installed.
    """
    is_named = name is not None or as_json
    if name is None:
        name = "json" if as_json else format_of(file) if file else "text"
    check_installed(name)
    if file is not None:
        check_can_write(file)
        if not is_named:
            check_ending(file)
    terminal = file is None and sys.stdout.isatty()
    if name in ("parquet", "arrow"):
        if terminal:
            raise click.UsageError(
                f"{name} cannot be written to a terminal: name a file with -o, or redirect the output"
            )
        return RecordSink(name, file, None, tee)
    style = Style(terminal, colors and file is None, file is not None, as_text)
    try:
        return RecordSink(name, file, text_format(name, delimiter, separator, null, encoding, style), tee)
    except LookupError as error:
        raise click.UsageError(f"--encoding: {error}") from None
    except ValueError as error:
        raise click.UsageError(str(error)) from None
