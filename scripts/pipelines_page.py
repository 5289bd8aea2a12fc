"""Write the generated tables of `docs/PIPELINES.md`: the keys of declarations, and the line counts of the recipes.

The keys come from the models in `kafka.pipelines`. A recipe is the first program in each numbered section of the page;
its counterpart is in tests/integration/spark/hand_written. A test fails if the page is out of date.

    python scripts/pipelines_page.py            write them
    python scripts/pipelines_page.py --check    exit 1 where they are not what would be written
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from kafka.pipelines import declaration, source_declaration
from kafka.pipelines.targets.choice import TARGETS

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "PIPELINES.md"
HAND_WRITTEN = ROOT / "tests" / "integration" / "spark" / "hand_written"
MODELS: Mapping[str, type[BaseModel]] = {
    "The file": declaration.Declaration,
    "`source`, and `sources.NAME`": source_declaration.Source,
    "`key` and `value`": source_declaration.FieldFormat,
    "`rules`": source_declaration.Rule,
    "`times`": source_declaration.TimeBounds,
    "`watermark`": source_declaration.Watermark,
    "`dedupe`": source_declaration.Dedupe,
    "`backfill`": source_declaration.Backfill,
    "`dead_letters`": declaration.DeadLetters,
    "`sink`: a topic": declaration.Sink,
    **{f"`sink`: {name}": model for name, model in TARGETS.items()},
}
"""The models by the place of their keys."""


def keys_table() -> str:
    """Return a table for each model, with its keys and their defaults."""
    parts = []
    for place, model in MODELS.items():
        rows = [f"### {place}", "| key | default | |", "|---|---|---|"]
        for name, field in model.model_fields.items():
            text = " ".join((field.description or "").split()).replace("|", r"\|")
            text = text.replace("(SPARK.md)", "([SPARK.md](SPARK.md#options))")
            rows.append(f"| `{field.alias or name}` | {_default(field)} | {text} |")
        parts.append("\n".join(rows))
    return "\n\n".join(parts)


def _default(field: Any) -> str:
    if field.is_required():
        return "required"
    value = field.default
    if isinstance(value, BaseModel):
        return f"`{{format: {value.model_dump()['format']}}}`"
    if value is None or value in ({}, ()):
        return ""
    return f"`{json.dumps(value)}`" if isinstance(value, bool) else f"`{value}`"


def recipes(page: str) -> Iterator[tuple[int, str, str, str]]:
    """Yield number, title, language and text of each recipe."""
    for number, title, section in re.findall(r"^### (\d+)\. ([^\n]+)\n(.*?)(?=^##|\Z)", page, re.MULTILINE | re.DOTALL):
        found = re.search(r"^```(yaml|python)\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
        if found is None:
            raise ValueError(f"{PAGE.name}: recipe {number} has no program")
        yield int(number), title, found[1], found[2]


def hand_written(number: int) -> str:
    """Return the text of the program that does the same without `kafka.pipelines`."""
    (path,) = HAND_WRITTEN.glob(f"{number:02}_*.py")
    return path.read_text(encoding="utf-8")


def lines_of(language: str, text: str) -> int:
    """Count the lines of a program without blank lines, comments and the docstring of the module."""
    lines = text.splitlines()
    if language == "python":
        first = ast.parse(text).body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            lines = lines[first.end_lineno :]
    return sum(1 for line in lines if line.strip() and not line.strip().startswith("#"))


def lines_table(page: str) -> str:
    """Return the number of lines of each recipe, and of its counterpart."""
    rows = ["| recipe | lines | by hand |", "|---|---:|---:|"]
    total = [0, 0]
    for number, title, language, text in recipes(page):
        counts = lines_of(language, text), lines_of("python", hand_written(number))
        total = [total[0] + counts[0], total[1] + counts[1]]
        rows.append(f"| {number}. {title} ({language}) | {counts[0]} | {counts[1]} |")
    rows.append(f"| all | {total[0]} | {total[1]} |")
    return "\n".join(rows)


def with_tables(page: str) -> str:
    """Return the page with its tables as they have to be."""
    for name, table in (("keys", keys_table()), ("lines", lines_table(page))):
        begin, end = f"<!-- {name}: written by scripts/pipelines_page.py -->", f"<!-- end of {name} -->"
        before, mark, rest = page.partition(begin)
        _, other_mark, after = rest.partition(end)
        if not mark or not other_mark:
            raise ValueError(f"{PAGE.name}: expected the marks {begin!r} and {end!r}")
        page = f"{before}{begin}\n{table}\n{end}{after}"
    return page


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="write nothing")
    page = PAGE.read_text(encoding="utf-8")
    wanted = with_tables(page)
    if parser.parse_args().check:
        return int(page != wanted)
    PAGE.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
