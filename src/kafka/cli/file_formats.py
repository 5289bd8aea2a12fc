"""The formats of files that `kafka consume` writes and `kafka produce` reads: by which endings, and what they need."""

import importlib
import os
import pathlib

import click

LINES = ("text", "lines")
"""Two names of one format: values, or keys and values, with a delimiter behind each."""
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
    """The endings of files' names that say which format they have."""
    return tuple(_ENDINGS)


def format_of(file: pathlib.Path) -> str:
    """The format that a file's name says; text for any other name."""
    return _ENDINGS.get(file.suffix.lower(), "text")


def check_installed(name: str) -> None:
    """Raise `ModuleNotFoundError` where a format needs a library that is not there."""
    if name in _NEEDED:
        importlib.import_module(_NEEDED[name])


def check_can_write(file: pathlib.Path) -> None:
    """Raise `click.UsageError` for a file that cannot be written, before anything is read for it."""
    folder = file.parent
    if not folder.is_dir():
        raise click.UsageError(f"cannot write {file}: the directory {folder} does not exist")
    if not os.access(file if file.exists() else folder, os.W_OK):
        raise click.UsageError(f"cannot write {file}: permission denied")
