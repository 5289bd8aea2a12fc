"""``kafka doctor``: what is installed, and which variant of the hot modules is loaded."""

import importlib
import importlib.metadata
import importlib.util
import os
import platform
import subprocess

import click
from rich.console import Console
from rich.table import Table

from kafka import _variant
from kafka.spark.requirements import find_java
from kafka.version import __version__

LIBRARIES = {
    "cramjam": "compression; always needed",
    "crc32c": "checksums; always needed",
    "zstandard": "small zstd batches; always needed",
    "pyarrow": "poll_arrow, send_arrow, Spark: pip install 'kafka-columnar[arrow]'",
    "pyspark": "the Spark source and sink: pip install 'kafka-columnar[spark]'",
    "pandas": "the demo: pip install 'kafka-columnar[demo]'",
}


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "[yellow]not installed[/]"


def _java() -> str:
    java = find_java()
    if java is None:
        return "[yellow]not found[/]"
    answer = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=False)
    return (answer.stderr or answer.stdout).partition("\n")[0]


@click.command(name="doctor")
def command() -> None:
    """Show versions, libraries, and whether the hot modules are compiled."""
    table = Table(title=f"kafka-columnar {__version__}: {_variant.variant()}", show_header=False)
    table.add_row("Python", platform.python_version(), platform.platform())
    for name, use in LIBRARIES.items():
        table.add_row(name, _version(name), use.replace("[", "\\["))
    table.add_row("Java", _java(), "Spark needs version 17 or later")
    for module, compiled in _variant.compiled_modules().items():
        table.add_row(module, "compiled" if compiled else "[yellow]plain Python[/]", "")
    console = Console()
    console.print(table)
    if _variant.variant() != "compiled":
        console.print(
            "The plain variant works, several times slower. Install a C compiler and reinstall the package to get the "
            "compiled one" + (", or unset KAFKA_PURE." if os.environ.get("KAFKA_PURE") else ".")
        )
