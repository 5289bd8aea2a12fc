"""`python -m bench.compare A.json B.json C.json`: the ratios of runs side by side, and whether each holds in all."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from bench.figures import FIGURES, Figure, Row, Target, reached
from bench.roster import CLIENTS
from bench.store import Run, load

Key = tuple[str, str, str]
"""Task, records, and the name of our client, which tells rows of one task apart."""


def compared(runs: Sequence[Run]) -> list[list[str]]:
    """Return a line of cells for each ratio: task, records, against whom, asked, one ratio a run, whether all hold."""
    tables = [{_key(row): row for row in run.rows} for run in runs]
    lines = []
    for key in dict.fromkeys(key for table in tables for key in table):
        rows = [table.get(key) for table in tables]
        first = next(row for row in rows if row is not None)
        for client in first.clients[1:]:
            for figure in FIGURES[first.measure]:
                ratios = [row.ratio(client, figure) if row is not None else None for row in rows]
                lines.append(_line(first, client, figure, ratios))
    return lines


def _key(row: Row) -> Key:
    return row.task, row.records, row.clients[0]


def _line(row: Row, client: str, figure: Figure, ratios: Sequence[float | None]) -> list[str]:
    target = row.target(client, figure)
    title = row.title if len(FIGURES[row.measure]) == 1 else f"{row.title}, {figure.name}"
    told = ["-" if ratio is None else f"{ratio:.2f}" for ratio in ratios]
    asked = "" if target is None else f"{target.ratio:g}"
    return [title, row.records, CLIENTS[client].title, asked, *told, _verdict(target, ratios)]


def _verdict(target: Target | None, ratios: Sequence[float | None]) -> str:
    """Whether what was asked holds in each run; nothing where nothing was asked."""
    if target is None:
        return ""
    if any(ratio is None for ratio in ratios):
        return "not measured in all"
    held = sum(reached(ratio, target) for ratio in ratios if ratio is not None)
    return "yes" if held == len(ratios) else f"in {held} of {len(ratios)}"


def rendered(runs: Sequence[Run], as_markdown: bool) -> str:
    """Return the table, as Markdown or in columns."""
    numbered = [f"run {number}" for number in range(1, len(runs) + 1)]
    lines = [["task", "records", "against", "asked", *numbered, "holds"], *compared(runs)]
    if as_markdown:
        rule = "|---|---|---|---:|" + "---:|" * len(runs) + "---|"
        table = [f"| {' | '.join(line)} |" for line in lines]
        about = [line for run in runs for line in (*run.about.lines(), "")]
        return "\n".join([*about, table[0], rule, *table[1:]])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)


def main() -> None:
    """Print the comparison; the exit status is 1 if a ratio that was asked does not hold in all runs."""
    parser = argparse.ArgumentParser(prog="python -m bench.compare", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, help="what runs of `python -m bench` wrote as JSON")
    parser.add_argument("--markdown", action="store_true", help="as a Markdown table, with the circumstances")
    options = parser.parse_args()
    runs = [load(file) for file in options.files]
    print(rendered(runs, options.markdown))
    if any(line[-1] not in ("", "yes") for line in compared(runs)):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
