"""Where fetched things are kept, and how they get there without ever being half there."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def cache_folder() -> Path:
    """Return the cache folder: `KAFKA_COLUMNAR_CACHE`, or below the user's cache, or `.cache` in the tree."""
    chosen = os.environ.get("KAFKA_COLUMNAR_CACHE")
    if chosen:
        folder = Path(chosen).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        return folder
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    for folder in (Path(home) / "kafka-columnar", ROOT / ".cache"):
        if _is_writable(folder):
            return folder
    raise RuntimeError(f"no writable cache folder in {home} or {ROOT}: set KAFKA_COLUMNAR_CACHE to one")


def _is_writable(folder: Path) -> bool:
    """Whether files can be made in the folder, which is created if need be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def build_once(final: Path, make: Callable[[Path], None]) -> Path:
    """Return the folder `final`, filled by `make` if it does not exist yet.

    `make` gets an empty folder next to it, which is renamed once it is complete. An interrupted run therefore leaves
    nothing that looks finished, and of two concurrent runs, the second waits for the first.
    """
    if final.exists():
        return final
    final.parent.mkdir(parents=True, exist_ok=True)
    with locked(final.with_name(f".{final.name}.lock")):
        if final.exists():
            return final
        work = Path(tempfile.mkdtemp(prefix=f".{final.name}.", dir=final.parent))
        try:
            work.chmod(0o755)
            make(work)
            work.rename(final)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    return final


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an advisory lock on a file; the system drops it when the process ends, however it ends."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
