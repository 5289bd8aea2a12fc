"""Lists the modules that are compiled, and selects the plain variant on request.

The hot modules are ordinary Python files in Cython's pure Python mode. `setup.py` compiles those listed here into
extension modules next to the `.py` files, and the import system prefers extension modules. With `KAFKA_PURE=1` in the
environment, the `.py` files are loaded instead; they behave the same, but are slower.

To add a hot module, add its row to `HOT_MODULES`, and a `.pxd` file next to it if other hot modules use it from C. If
it uses Cython's types, also add it to the mypy override in pyproject.toml for modules that Cython compiles.

This module imports nothing from the package, because `setup.py` reads it before anything is built.
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
"""Marker file that a build with `KAFKA_PURE=1` writes into the package."""

HOT_MODULES: tuple[str, ...] = (
    "kafka.formats.avro.arrow_nested",
    "kafka.formats.avro.arrow_writers",
    "kafka.formats.avro.cursor",
    "kafka.formats.avro.encoder_output",
    "kafka.formats.avro.logical_writers",
    "kafka.formats.avro.nested_objects",
    "kafka.formats.avro.nested_readers",
    "kafka.formats.avro.nested_writers",
    "kafka.formats.avro.object_decoder",
    "kafka.formats.avro.object_readers",
    "kafka.formats.avro.object_writers",
    "kafka.formats.avro.rows",
    "kafka.formats.avro.scalar_readers",
    "kafka.formats.avro.skippers",
    "kafka.formats.column_builders",
    "kafka.formats.json.cursor",
    "kafka.formats.json.encoder_output",
    "kafka.formats.json.nested_readers",
    "kafka.formats.json.nested_writers",
    "kafka.formats.json.number_readers",
    "kafka.formats.json.numbers",
    "kafka.formats.json.rows",
    "kafka.formats.json.scalar_writers",
    "kafka.formats.json.skip",
    "kafka.formats.json.text_readers",
    "kafka.formats.json.texts",
    "kafka.formats.json.time_readers",
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
"""Dotted names of the compiled modules, one per line, sorted."""


class PlainFinder:
    """Meta path finder that loads the `.py` files of hot modules, even those with an extension module next to them."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return a spec for the source file of a hot module; None for any other module."""
        if name not in HOT_MODULES or path is None:
            return None
        for folder in path:
            file = os.path.join(folder, name.rpartition(".")[2] + ".py")
            if os.path.isfile(file):
                loader = importlib.machinery.SourceFileLoader(name, file)
                return importlib.util.spec_from_file_location(name, file, loader=loader)
        return None


def plain_is_forced() -> bool:
    """Return whether the environment asks for the plain variant (`KAFKA_PURE` is set, and is neither empty nor 0)."""
    return os.environ.get("KAFKA_PURE", "") not in ("", "0")


def plain_is_built() -> bool:
    """Return whether this installation was built with `KAFKA_PURE=1`, according to the marker file."""
    return os.path.exists(os.path.join(os.path.dirname(__file__), PLAIN_BUILD))


def is_free_threaded() -> bool:
    """Return whether this Python is built to run without the GIL, so that compiled modules are not the default.

    They need the GIL, and importing one would enable it for the whole process.
    """
    return "free-threading build" in sys.version


def install_plain_finder() -> None:
    """Put `PlainFinder` before the import system's own finders, once, if the environment asks for it."""
    if plain_is_forced() and PlainFinder not in sys.meta_path:
        sys.meta_path.insert(0, PlainFinder)


def compiled_modules() -> dict[str, bool]:
    """Return, for each hot module, whether importing it gives the compiled variant.

    Modules that are not loaded yet are located, but not loaded. Modules whose file does not exist are omitted.
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
    """Log once per process that hot modules are not compiled, unless the user or the build chose that.

    Checks only modules that are already loaded, which takes almost no time.
    """
    global _checked
    if _checked:
        return
    _checked = True
    loaded = (sys.modules[name].__spec__ for name in HOT_MODULES if name in sys.modules)
    if any(spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader) for spec in loaded):
        if plain_is_forced() or plain_is_built() or is_free_threaded():
            return
        logging.getLogger("kafka").warning(
            "kafka-columnar is not compiled here and runs several times slower; 'kafka doctor' says how to change "
            "that, KAFKA_PURE=1 silences this"
        )


def _spec_of(name: str) -> importlib.machinery.ModuleSpec | None:
    """Find a module without loading it; its parent packages are loaded."""
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
