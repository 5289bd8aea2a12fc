"""CRC-32C, from the compiled module of the library crc32c.

The library's package imports `importlib.metadata` and `argparse` for its command: a fifth of the time that Spark's
processes, which begin anew for each query, take to import the source.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from importlib.machinery import PathFinder
from types import ModuleType


def _compiled() -> ModuleType | None:
    """Return the library's compiled module, loaded without its package; None where it is not where it is expected."""
    package = importlib.util.find_spec("crc32c")
    places = None if package is None else package.submodule_search_locations
    spec = None if places is None else PathFinder.find_spec("crc32c._crc32c", list(places))
    if spec is None or spec.loader is None:
        return None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _found() -> Callable[..., int]:
    found: Callable[..., int] | None = getattr(_compiled(), "crc32c", None)
    if found is not None:
        return found
    from crc32c import crc32c as of_the_package

    return of_the_package


crc32c = _found()
"""The checksum of bytes; a second argument is the checksum of what stands before them."""
