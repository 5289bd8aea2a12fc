"""Directories for the files of a target: on a local disk, or in any storage that PyArrow supports.

Drivers and tasks use the same `Storage`, so a local path has to be the same directory for all of them. To support the
options of another kind of storage, add them to `_filesystem`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import posixpath
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit, urlunsplit

from kafka.pipelines.targets.target import TargetError, needs

if TYPE_CHECKING:
    from pyarrow import fs

_S3_OPTIONS = {
    "aws_access_key_id": "access_key",
    "aws_secret_access_key": "secret_key",
    "aws_session_token": "session_token",
    "aws_region": "region",
    "aws_endpoint_url": "endpoint_override",
}
"""Storage options in object_store's names (lower case), and PyArrow's names for them."""


class Storage(Protocol):
    """Where tasks create files. It is pickled and sent to them."""

    def create(self, path: str) -> Any:
        """Create a file and its directories, and return a binary stream. The path is relative to the storage."""

    def delete(self, path: str) -> None:
        """Delete a file; does nothing if the file does not exist."""


@dataclasses.dataclass(frozen=True)
class Directory:
    """A directory in a file system.

    Arguments:
        uri: a local path, or a URI such as ``s3://bucket/path``.
        options: options for the storage, by object_store's names, such as ``AWS_REGION``.
    """

    uri: str
    options: Mapping[str, str] = dataclasses.field(default_factory=dict, repr=False)

    def create(self, path: str) -> Any:
        full = self._full(path)
        self._opened[0].create_dir(posixpath.dirname(full), recursive=True)
        return self._opened[0].open_output_stream(full)

    def delete(self, path: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._opened[0].delete_file(self._full(path))

    def move(self, source: str, destination: str) -> None:
        """Rename a file. A destination that exists is replaced."""
        full = self._full(destination)
        self._opened[0].create_dir(posixpath.dirname(full), recursive=True)
        self._opened[0].move(self._full(source), full)

    def exists(self, path: str) -> bool:
        from pyarrow import fs

        return self._opened[0].get_file_info(self._full(path)).type is not fs.FileType.NotFound

    def read(self, path: str) -> bytes | None:
        """Return the content of a file, or None if the file does not exist."""
        try:
            with self._opened[0].open_input_stream(self._full(path)) as stream:
                return bytes(stream.read())
        except FileNotFoundError:
            return None

    def write(self, path: str, content: bytes) -> None:
        """Write a file so that readers see either all of its content or no file."""
        incomplete = f"{path}.incomplete"
        with self.create(incomplete) as stream:
            stream.write(content)
        self._opened[0].move(self._full(incomplete), self._full(path))

    def delete_directory(self, path: str) -> None:
        """Delete a directory with its content; does nothing if the directory does not exist."""
        with contextlib.suppress(FileNotFoundError):
            self._opened[0].delete_dir(self._full(path))

    def files(self, path: str) -> Iterator[str]:
        """Yield the paths of all files in a directory and its subdirectories, sorted."""
        from pyarrow import fs

        selector = fs.FileSelector(self._full(path), allow_not_found=True, recursive=True)
        found = [each.path for each in self._opened[0].get_file_info(selector) if each.type is fs.FileType.File]
        yield from sorted(posixpath.relpath(each, self._opened[1]) for each in found)

    @property
    def filesystem(self) -> tuple[fs.FileSystem, str]:
        """The PyArrow file system, and the path of the directory in it."""
        return self._opened

    @functools.cached_property
    def _opened(self) -> tuple[fs.FileSystem, str]:
        return _filesystem(self.uri, self.options)

    def _full(self, path: str) -> str:
        return posixpath.join(self._opened[1], path)

    def __getstate__(self) -> dict[str, Any]:
        return {"uri": self.uri, "options": self.options}  # without the opened file system

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


def _filesystem(uri: str, options: Mapping[str, str]) -> tuple[fs.FileSystem, str]:
    try:
        from pyarrow import fs
    except ModuleNotFoundError as error:
        raise needs("pyarrow", "pipelines") from error
    if "://" not in uri and not uri.startswith("file:"):
        return fs.LocalFileSystem(), str(Path(uri).absolute())
    parts = urlsplit(uri)
    if parts.scheme in ("s3a", "s3n"):  # Hadoop's names
        parts = parts._replace(scheme="s3")
    if parts.scheme == "s3" and options:
        known: dict[str, Any] = {
            _S3_OPTIONS[name.lower()]: value for name, value in options.items() if name.lower() in _S3_OPTIONS
        }
        plain = str(known.get("endpoint_override", "")).startswith("http:")
        return fs.S3FileSystem(**known, scheme="http" if plain else "https"), f"{parts.netloc}{parts.path}".rstrip("/")
    try:
        found, path = fs.FileSystem.from_uri(urlunsplit(parts))
    except (OSError, ValueError) as error:
        raise TargetError(f"{uri}: expected a path or a URI that PyArrow supports: {error}") from error
    return found, path.rstrip("/")


def is_remote(uri: str) -> bool:
    """Return whether a path or URI is not that of a local directory."""
    return "://" in uri and not uri.startswith("file:")


def local_problems(uri: str) -> list[str]:
    """Return the reasons why files cannot be created in a local directory; nothing for other storage."""
    if is_remote(uri):
        return []
    path = Path(urlsplit(uri).path if uri.startswith("file:") else uri).absolute()
    existing = next(each for each in (path, *path.parents) if each.exists())
    if not existing.is_dir():
        return [f"{path}: expected a directory, but {existing} is a file"]
    if not os.access(existing, os.W_OK | os.X_OK):
        return [f"{path}: {existing} is not writable for this user"]
    return []
