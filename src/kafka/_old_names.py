"""Serves names and import paths of old generations of kafka-python on first use.

This module is below all layers. Packages pass `of_a_package` a table of names as text, so they load without importing
the modules of old generations. `OldPaths` serves the import paths in `kafka.legacy.addresses`.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import FrameType, ModuleType
from typing import Any


class OldPaths(SourceFileLoader):
    """Finds and loads old import paths that do not exist as files, as in a source tree.

    It is last on `sys.meta_path`, so it reads the table only for modules of `kafka` that no other finder knows.
    """

    @classmethod
    def find_spec(cls, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return a spec for an old import path; None for any other module.

        Raises `ModuleNotFoundError` with advice if an import names something that is similar to a public name. In
        ``from kafka import X``, the import system looks for the attribute first, and then for a module ``kafka.X``
        here. Programs that only look for a module, with `importlib.util.find_spec`, get None.
        """
        if not name.startswith("kafka.") or name.startswith("kafka.legacy"):
            return None
        from importlib.util import spec_from_file_location

        from kafka.legacy.addresses import ADDRESSES, file_of  # a large table that most programs do not need

        if name not in ADDRESSES:
            cls._advise(name)
            return None
        file = os.path.join(os.path.dirname(os.path.dirname(__file__)), *file_of(name).split("/"))
        return spec_from_file_location(name, file, loader=cls(name, file))

    @staticmethod
    def _advise(name: str) -> None:
        functions = _importing()
        if not functions & {"_find_and_load", "_handle_fromlist"}:
            return
        from kafka._name_hints import advice

        package, _, attribute = name.rpartition(".")
        if not (told := advice(package, attribute)):
            return
        if "_handle_fromlist" in functions:
            # With the name of the module, the import system would replace the error by one without advice.
            raise ModuleNotFoundError(f"cannot import name {attribute!r} from {package!r}: {told}", name=package)
        raise ModuleNotFoundError(f"No module named {name!r}: {told}", name=name)

    def get_data(self, path: str) -> bytes:
        """Return the generated source of the module."""
        from kafka.legacy.addresses import source_of

        return source_of(self.name).encode() if path == self.path else super().get_data(path)

    def path_stats(self, path: str) -> Mapping[str, Any]:
        """Raise `FileNotFoundError`: there is neither a file nor cached bytecode."""
        raise FileNotFoundError(path)


def _importing() -> set[str]:
    """Return the functions of the import system that asked `OldPaths`, up to the import itself."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__") == __name__:
        frame = frame.f_back
    found = set()
    while frame is not None and frame.f_globals.get("__name__") == "importlib._bootstrap":
        found.add(frame.f_code.co_name)
        frame = frame.f_back
    return found


def install_old_paths() -> None:
    """Append `OldPaths` to the finders, once."""
    if OldPaths not in sys.meta_path:
        sys.meta_path.append(OldPaths)


def of_a_package(package: str, name: str, homes: Mapping[str, str]) -> Any:
    """Load an attribute that a package or module does not define itself, and store it there (PEP 562).

    Also finds names that the module had in kafka-python only because it imported them, and submodules of subpackages,
    which ``import kafka`` loads there.

    Arguments:
        package: name of the package or module.
        name: the requested attribute.
        homes: maps names to the modules that define them.

    Raises `AttributeError` if the attribute is not found.
    """
    home = homes.get(name) or _home_of_imported(package, name)
    if home is None:
        return _submodule(package, name)
    value = getattr(importlib.import_module(home), name)
    setattr(sys.modules[package], name, value)
    return value


def _home_of_imported(module: str, name: str) -> str | None:
    from kafka._imported_names import home_of  # a large table that most programs do not need

    return None if name.startswith("_") else home_of(module, name)


def _submodule(package: str, name: str) -> ModuleType:
    from importlib.util import find_spec  # imported on use, to keep `import kafka` fast

    path = f"{package}.{name}"
    is_package = "__path__" in vars(sys.modules[package])
    is_there = not name.startswith("_") and "." in package and is_package and find_spec(path) is not None
    if not is_there:
        text = f"module {package!r} has no attribute {name!r}"
        raise AttributeError(text, name=name, obj=sys.modules[package])  # tracebacks suggest a similar name
    return importlib.import_module(path)
