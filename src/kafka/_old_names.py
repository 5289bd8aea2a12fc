"""Names that a package had in old generations of kafka-python: found where they are now, when they are asked for.

Stands below all layers. A package gives `of_a_package` a table of texts, so that its present modules load without the
old ones.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any


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
