"""Which modules are compiled, and how the plain variant is forced.

The hot modules are ordinary Python files in Cython's pure Python mode. `setup.py` compiles those listed here into
extension modules next to the `.py` files, and the import system prefers extension modules. With `KAFKA_PURE=1` in the
environment the `.py` files are loaded instead: they do the same, but more slowly.

To add a hot module: its row in `HOT_MODULES`, and a `.pxd` file next to it if other hot modules use it from C.

Imports nothing of the package: `setup.py` reads this file before anything is built.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import logging
import os
import sys
from collections.abc import Sequence
from types import ModuleType

PLAIN_BUILD = "_plain_build"
"""The file that a build with `KAFKA_PURE=1` leaves in the package."""

HOT_MODULES: tuple[str, ...] = (
    "kafka.formats.avro.arrow_nested",
    "kafka.formats.avro.arrow_writers",
    "kafka.formats.avro.byte_readers",
    "kafka.formats.avro.cursor",
    "kafka.formats.avro.logical_writers",
    "kafka.formats.avro.nested_objects",
    "kafka.formats.avro.nested_readers",
    "kafka.formats.avro.nested_writers",
    "kafka.formats.avro.number_readers",
    "kafka.formats.avro.object_decoder",
    "kafka.formats.avro.object_readers",
    "kafka.formats.avro.object_writers",
    "kafka.formats.avro.output",
    "kafka.formats.avro.rows",
    "kafka.formats.avro.skippers",
    "kafka.formats.columns",
    "kafka.formats.json.cursor",
    "kafka.formats.json.nested_readers",
    "kafka.formats.json.nested_writers",
    "kafka.formats.json.number_readers",
    "kafka.formats.json.numbers",
    "kafka.formats.json.output",
    "kafka.formats.json.rows",
    "kafka.formats.json.scalar_writers",
    "kafka.formats.json.skip",
    "kafka.formats.json.text_readers",
    "kafka.formats.json.texts",
    "kafka.formats.json.time_readers",
    "kafka.formats.json.time_writers",
    "kafka.partitioner.murmur2",
    "kafka.producer.appending.append",
    "kafka.producer.appending.appender",
    "kafka.producer.appending.checks",
    "kafka.producer.delivery.callbacks",
    "kafka.producer.future",
    "kafka.record.batch_runs",
    "kafka.record.builder",
    "kafka.record.codecs.lz4",
    "kafka.record.codecs.snappy",
    "kafka.record.codecs.zstd",
    "kafka.record.legacy_reader",
    "kafka.record.materialize",
    "kafka.record.memory",
    "kafka.record.partition_rows",
    "kafka.record.reader",
    "kafka.record.record_headers",
    "kafka.record.row_encoder",
    "kafka.record.text_lines",
    "kafka.record.timestamp_columns",
    "kafka.record.validate",
    "kafka.wire.decoder",
    "kafka.wire.encoder",
)
"""Dotted names of the modules that are compiled, one a line, sorted."""


class PlainFinder:
    """A meta path finder that loads the `.py` of each hot module, even if there is an extension module next to it."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return a spec for the source file of the hot module `name`; None leaves other modules to other finders."""
        if name not in HOT_MODULES or path is None:
            return None
        for folder in path:
            file = os.path.join(folder, name.rpartition(".")[2] + ".py")
            if os.path.isfile(file):
                loader = importlib.machinery.SourceFileLoader(name, file)
                return importlib.util.spec_from_file_location(name, file, loader=loader)
        return None


def plain_is_forced() -> bool:
    """Whether the environment asks for the plain variant (`KAFKA_PURE` set, and neither empty nor 0)."""
    return os.environ.get("KAFKA_PURE", "") not in ("", "0")


def plain_is_built() -> bool:
    """Whether this installation was built with `KAFKA_PURE=1`, which the build notes in a file."""
    return os.path.exists(os.path.join(os.path.dirname(__file__), PLAIN_BUILD))


def install_plain_finder() -> None:
    """Put `PlainFinder` before the import system's own finders, once, if the environment asks for it."""
    if plain_is_forced() and PlainFinder not in sys.meta_path:
        sys.meta_path.insert(0, PlainFinder)


def compiled_modules() -> dict[str, bool]:
    """Tell for each hot module whether an import of it gives (or gave) the compiled variant.

    A module that is not loaded yet is looked for, not loaded. A module whose file does not exist is left out.
    """
    found: dict[str, bool] = {}
    for name in HOT_MODULES:
        module = sys.modules.get(name)
        spec = module.__spec__ if module is not None else _spec_of(name)
        if spec is not None:
            found[name] = isinstance(spec.loader, importlib.machinery.ExtensionFileLoader)
    return found


_checked = False


def warn_if_plain() -> None:
    """Log, once per process, that hot modules are not compiled, unless the user or the build chose that.

    It checks only modules that are already loaded, as the caller's are, so it costs next to nothing.
    """
    global _checked
    if _checked:
        return
    _checked = True
    loaded = (sys.modules[name].__spec__ for name in HOT_MODULES if name in sys.modules)
    if any(spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader) for spec in loaded):
        if plain_is_forced() or plain_is_built():
            return
        logging.getLogger("kafka").warning(
            "kafka-columnar is not compiled here and runs several times slower; 'kafka doctor' says how to change "
            "that, KAFKA_PURE=1 silences this"
        )


def _spec_of(name: str) -> importlib.machinery.ModuleSpec | None:
    """Find a module without loading it (its parent packages are loaded)."""
    try:
        return importlib.util.find_spec(name)
    except ModuleNotFoundError:
        return None


def variant() -> str:
    """Return `"compiled"` if every hot module is compiled, `"plain"` if none is, `"mixed"` otherwise."""
    kinds = set(compiled_modules().values())
    if len(kinds) > 1:
        return "mixed"
    return "compiled" if kinds == {True} else "plain"
