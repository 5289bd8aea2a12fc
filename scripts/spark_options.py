"""Write the tables of options in `docs/SPARK.md` from the option tables in `kafka.spark`.

A test fails where the page is out of date.

    python scripts/spark_options.py            write them
    python scripts/spark_options.py --check    exit 1 where they are not what would be written
"""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path

from kafka.spark.options.client_options import client_option_handling
from kafka.spark.options.option_table import OPTIONS, Use

PAGE = Path(__file__).resolve().parents[1] / "docs" / "SPARK.md"
JAVA = "no effect: it applies to Java clients or to brokers"
USES = {Use.STREAM: "stream", Use.BATCH: "batch", Use.SINK: "sink"}


def own_table() -> str:
    """The options of the source and sink."""
    rows = ["| option | default | for | |", "|---|---|---|---|"]
    for row in OPTIONS:
        uses = ", ".join(name for use, name in USES.items() if use in row.uses)
        default = f"{row.default} (stream), {row.batch_default} (batch)" if row.batch_default else row.default
        rows.append(f"| `{row.name}` | {default} | {uses} | {row.doc} |")
    return "\n".join(rows)


def client_table() -> str:
    """The options of Kafka's clients by their effect on reads and writes; those with their own reason are a table."""
    options = {name: (str(read), str(write)) for name, (read, write) in client_option_handling().items()}
    parts = [
        "### Options that work for reads and writes\n"
        + _names(options, lambda *effects: effects == ("works", "works")),
        "### Options that work for reads\nThey have no effect on writes.\n\n"
        + _names(options, lambda reading, writing: (reading, writing[:9]) == ("works", "no effect")),
        "### Options that work for writes\nThey have no effect on reads.\n\n"
        + _names(options, lambda reading, writing: (reading[:9], writing) == ("no effect", "works")),
        "### Options of Java clients and of brokers\nThey have no effect.\n\n"
        + _names(options, lambda *effects: effects == (JAVA, JAVA)),
    ]
    shown = "".join(parts)
    rows = ["### Other options", "| option | read | write |", "|---|---|---|"]
    for option, (reading, writing) in options.items():
        if f"`{option}`" not in shown:
            rows.append(f"| `{option}` | {reading} | {'the same' if writing == reading else writing} |")
    return "\n\n".join([*parts, "\n".join(rows)]).replace("docs/TRANSACTIONS.md", "[TRANSACTIONS.md](TRANSACTIONS.md)")


def _names(options: Mapping[str, tuple[str, str]], chosen: Callable[[str, str], bool]) -> str:
    """The options whose effects on a read and on a write are chosen, as a paragraph."""
    names = [f"`{option}`" for option, effects in options.items() if chosen(*effects)]
    return textwrap.fill(", ".join(names) + ".", 120, break_long_words=False, break_on_hyphens=False)


def with_tables(page: str) -> str:
    """The page with its tables as they have to be."""
    for name, table in (("options", own_table()), ("client options", client_table())):
        begin, end = f"<!-- {name}: written by scripts/spark_options.py -->", f"<!-- end of {name} -->"
        marked = re.compile(f"{begin}.*?{end}", re.DOTALL)
        count = len(marked.findall(page))
        if count != 1:
            raise ValueError(f"{PAGE.name} has the mark {begin!r} {count} times")
        start, stop = marked.search(page).span()  # type: ignore[union-attr]  # it is there once
        page = f"{page[:start]}{begin}\n{table}\n{end}{page[stop:]}"
    return page


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="write nothing")
    page = PAGE.read_text()
    wanted = with_tables(page)
    if parser.parse_args().check:
        return int(page != wanted)
    PAGE.write_text(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
