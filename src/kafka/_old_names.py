"""Names and import paths of old generations of kafka-python: found where they are now, when they are asked for.

Stands below all layers. A package gives `of_a_package` a table of texts, so that its present modules load without the
old ones. `OldPaths` serves the import paths that `kafka.legacy.addresses` lists.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import ModuleType
from typing import Any


class OldPaths(SourceFileLoader):
    """Finds and loads the old import paths where they are no files, as in a source tree.

    It stands last on `sys.meta_path`, so it reads the table only for a module of `kafka` that no other finder knows.
    """

    @classmethod
    def find_spec(cls, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return a spec for an old import path; None for any other module."""
        if not name.startswith("kafka.") or name.startswith("kafka.legacy"):
            return None
        from importlib.util import spec_from_file_location

        from kafka.legacy.addresses import ADDRESSES, file_of  # a large table, which most programs do not need

        if name not in ADDRESSES:
            return None
        file = os.path.join(os.path.dirname(os.path.dirname(__file__)), *file_of(name).split("/"))
        return spec_from_file_location(name, file, loader=cls(name, file))

    def get_data(self, path: str) -> bytes:
        """Return the text of the module, whose file does not exist."""
        from kafka.legacy.addresses import source_of

        return source_of(self.name).encode() if path == self.path else super().get_data(path)

    def path_stats(self, path: str) -> Mapping[str, Any]:
        """Say that there is no file, and so none of its bytecode."""
        raise FileNotFoundError(path)


def install_old_paths() -> None:
    """Put `OldPaths` after all other finders, once."""
    if OldPaths not in sys.meta_path:
        sys.meta_path.append(OldPaths)


def of_a_package(package: str, name: str, homes: Mapping[str, str]) -> Any:
    """Load an attribute that a package (or module) does not have itself, and keep it there (PEP 562).

    Arguments:
        package: name of the package.
        name: the attribute asked for.
        homes: by name, the module that has it.

    A name that the module had in kafka-python because it imported it is found too, and a submodule of a subpackage is
    loaded: there ``import kafka`` loads them all.

    Raises `AttributeError` for a name that is nowhere.
    """
    home = homes.get(name) or _home_of_imported(package, name)
    if home is None:
        return _submodule(package, name)
    value = getattr(importlib.import_module(home), name)
    setattr(sys.modules[package], name, value)
    return value


def _home_of_imported(module: str, name: str) -> str | None:
    from kafka._imported_names import home_of  # a large table, which most programs do not need

    return None if name.startswith("_") else home_of(module, name)


def _submodule(package: str, name: str) -> ModuleType:
    from importlib.util import find_spec  # when it is needed: `import kafka` is to be quick

    path = f"{package}.{name}"
    is_package = "__path__" in vars(sys.modules[package])
    if name.startswith("_") or "." not in package or not is_package or find_spec(path) is None:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    return importlib.import_module(path)
