"""Write `src/kafka/config/keywords.py`: what the clients take as keyword arguments, for type checkers and editors.

The option table (`kafka.config.option_table`) is the source; a test fails if the module is out of date. The pages that
list options, `docs/OPTIONS.md` and `docs/SPARK.md`, are written with it.

    python scripts/options.py            write it
    python scripts/options.py --check    exit 1 where it is not what would be written
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import textwrap
from pathlib import Path

from kafka.config.option import Option
from kafka.config.option_text import described
from kafka.config.table import option_table

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "src" / "kafka" / "config" / "keywords.py"
HEAD = '''"""The keyword arguments of the clients, for type checkers: ``**configs: Unpack[ConsumerConfigs]``.

Written by scripts/options.py from the option table: change an option there, and run it.
"""

import os
import ssl
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypedDict
'''
CLIENTS = {
    "Admin": ("admin", "an admin client"),
    "Producer": ("producer", "a producer"),
    "Consumer": ("consumer", "a consumer"),
    "Share": ("share consumer", "a share consumer"),
}
"""By the start of the name of its class: how the option table calls a client, and how texts do."""


def text() -> str:
    """What the module has to be."""
    table = option_table()
    everyone = [row for row in table.values() if len(row.clients) == len(CLIENTS)]
    parts = [HEAD, _class("CommonConfigs", "TypedDict, total=False", "Options that every client has.", everyone)]
    for name, (client, whose) in CLIENTS.items():
        own = [row for row in table.values() if client in row.clients and row not in everyone]
        parts.append(_class(f"{name}Configs", "CommonConfigs, total=False", f"Options of {whose}.", own))
    return _formatted("\n\n".join(parts))


def _class(name: str, bases: str, doc: str, rows: list[Option]) -> str:
    lines = [f"class {name}({bases}):", f'    """{doc}"""', ""]
    for row in rows:
        lines += [f"    {row.name}: {row.annotation}", *_wrapped(f'"""{described(row)}"""')]
    return "\n".join(lines) + "\n"


def _wrapped(doc: str) -> list[str]:
    return textwrap.wrap(doc, 116, initial_indent="    ", subsequent_indent="    ", break_long_words=False)


def _formatted(source: str) -> str:
    ruff = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(TARGET), "-"]
    return subprocess.run(ruff, input=source, capture_output=True, text=True, check=True, cwd=ROOT).stdout


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="write nothing")
    wanted = text()
    if parser.parse_args().check:
        return int(not TARGET.exists() or TARGET.read_text() != wanted)
    TARGET.write_text(wanted)
    others = ([sys.executable, "-m", "scripts.reference"], [sys.executable, "scripts/spark_options.py"])
    return max(subprocess.run(command, check=False, cwd=ROOT).returncode for command in others)


if __name__ == "__main__":
    sys.exit(main())
