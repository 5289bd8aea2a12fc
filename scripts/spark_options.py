"""Write the tables of options in `docs/SPARK.md` from the option tables in `kafka.spark`.

A test fails where the page is out of date.

    python scripts/spark_options.py            write them
    python scripts/spark_options.py --check    exit 1 where they are not what would be written
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from kafka.spark.options.client_options import client_option_handling
from kafka.spark.options.option_table import OPTIONS, Use

PAGE = Path(__file__).resolve().parents[1] / "docs" / "SPARK.md"
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
    """The options of Kafka's clients, and what becomes of each on a read and on a write."""
    rows = ["| option | read | write |", "|---|---|---|"]
    for option, (reading, writing) in client_option_handling().items():
        rows.append(f"| `{option}` | {reading} | {writing} |")
    return "\n".join(rows)


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
