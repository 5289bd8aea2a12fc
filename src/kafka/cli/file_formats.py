"""Formats of files that `kafka consume` writes and `kafka produce` reads: extensions and required libraries."""

import importlib
import os
import pathlib

import click

from kafka.config.option import nearest

LINES = ("text", "lines")
"""Two names for one format: values, or keys and values, with a delimiter after each record."""
_ENDINGS = {
    ".txt": "text",
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".arrows": "arrow",
}
_NEEDED = {"parquet": "pyarrow.parquet", "arrow": "pyarrow"}


def endings() -> tuple[str, ...]:
    """Return the file extensions that determine a format."""
    return tuple(_ENDINGS)


def format_of(file: pathlib.Path) -> str:
    """Return the format for a file's extension; "text" for any other."""
    return _ENDINGS.get(file.suffix.lower(), "text")


def check_ending(file: pathlib.Path) -> None:
    """Raise `click.UsageError` for an extension that determines no format. A name without one is that of a text file.

    Devices, such as /dev/stdout, and pipes have no extension either.
    """
    ending = file.suffix.lower()
    if ending and ending not in _ENDINGS and (file.is_file() or not file.exists()):
        raise click.UsageError(
            f"{file}: no format has the extension {file.suffix}{nearest(ending, _ENDINGS)} (known are "
            f"{', '.join(_ENDINGS)}); name the format with -f, such as -f text"
        )


def check_installed(name: str) -> None:
    """Raise `ModuleNotFoundError` if a format needs a library that is not installed."""
    if name in _NEEDED:
        importlib.import_module(_NEEDED[name])


def check_can_write(file: pathlib.Path) -> None:
    """Raise `click.UsageError` for a file that cannot be written, before any records are read."""
    folder = file.parent
    if not folder.is_dir():
        raise click.UsageError(f"cannot write {file}: the directory {folder} does not exist")
    if not os.access(file if file.exists() else folder, os.W_OK):
        raise click.UsageError(f"cannot write {file}: permission denied")
