"""Balances the rows of an aggregating query: compares counts per window or other group with those that are expected.

Rows of an aggregation have no positions of input records. If the output has a column that counts, the counts of all
groups must add up to the rows that the query processed, without those that Spark dropped because they were late.
`compare_groups` compares two tables, whatever computed them: the latest rows of the sink, and a new evaluation.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute

from kafka.errors import IllegalArgumentError
from kafka.pipelines.audit.faults import Fault, FaultKind

pc: Any = pyarrow.compute
MAX_GROUPS = 1_000
"""Maximum number of groups that are reported one by one."""


@dataclasses.dataclass(frozen=True, slots=True)
class GroupBalance:
    """The comparison of counts by group.

    Arguments:
        expected: number of rows in all expected groups.
        found: number of rows in all groups of the output.
        late: number of rows that Spark dropped because they were late.
        faults: groups whose counts differ; empty if late rows explain all differences.
        differing: number of groups whose counts differ.
    """

    expected: int
    found: int
    late: int
    faults: tuple[Fault, ...]
    differing: int

    @property
    def balances(self) -> bool:
        """Whether the counts add up."""
        return not self.faults


def latest_rows(rows: pa.Table, keys: Sequence[str], order: str = "offset") -> pa.Table:
    """Return the last row of each group, as readers of an output in mode update see it.

    Arguments:
        rows: the rows of the sink.
        keys: the columns that identify a group.
        order: a column that increases with each row of a group, such as the offset in a partition.

    Raises `IllegalArgumentError` if a column does not exist.
    """
    _check(rows, [*keys, order])
    numbered = rows.append_column("row number", pa.array(range(rows.num_rows), pa.int64()))
    ordered = numbered.sort_by(order)
    last = ordered.group_by(list(keys), use_threads=False).aggregate([("row number", "last")])
    return rows.take(last.column("row number_last"))


def compare_groups(
    expected: pa.Table, found: pa.Table, keys: Sequence[str], count: str, *, late: int = 0
) -> GroupBalance:
    """Compare the counts of groups.

    Arguments:
        expected: a row for each group that a new evaluation returns, with its count. It includes late rows.
        found: a row for each group in the output.
        keys: the columns that identify a group, such as the start of a window.
        count: the column with the number of rows of the group.
        late: number of rows that Spark dropped because they were late. Groups may lack that many rows in total, and no
            more.

    Returns the comparison. Differences are faults, unless late rows explain all of them. Raises `IllegalArgumentError`
    if a column does not exist, or if a group is there twice.
    """
    tables = []
    for name, table in (("expected", expected), ("found", found)):
        _check(table, [*keys, count])
        counts = table.select([*keys, count]).rename_columns([*keys, name])
        sizes = counts.group_by(list(keys)).aggregate([([], "count_all")])
        repeated = np.flatnonzero(_numbers(sizes.column("count_all")) > 1)
        if len(repeated):
            group = _group(sizes, keys, int(repeated[0]))
            raise IllegalArgumentError(f"{name}: expected a row for each group, got several for {group}")
        tables.append(counts)
    both = _joined(tables[0], tables[1], keys)
    wanted, there = (_numbers(both.column(name)) for name in ("expected", "found"))
    lacking = wanted - there
    differing = np.flatnonzero(lacking)
    is_explained = not (lacking < 0).any() and int(lacking.sum()) == late
    faults = []
    if not is_explained:
        for row in differing[:MAX_GROUPS].tolist():
            text = f"{_group(both, keys, row)}: {wanted[row]} rows expected, {there[row]} in the sink"
            faults.append(Fault(FaultKind.WINDOW_DIFFERS, None, (), 0, text))
        if not faults:
            text = f"{late:,} rows were late, but no group lacks a row"
            faults.append(Fault(FaultKind.WINDOW_DIFFERS, None, (), 0, text))
    return GroupBalance(int(wanted.sum()), int(there.sum()), late, tuple(faults), len(differing))


def _numbers(column: Any) -> Any:
    """Return counts as an array of numpy; 0 for null."""
    return pc.fill_null(column, 0).to_numpy().astype(np.int64)


def _joined(expected: pa.Table, found: pa.Table, keys: Sequence[str]) -> pa.Table:
    """Join by the keys, where null equals null, which Arrow's join does not support."""
    names = [f"group {index}" for index in range(len(keys))]
    texts = []
    for table in (expected, found):
        dictionary = [_text(table.column(key)) for key in keys]
        texts.append(table.select([table.column_names[-1]]))
        for name, column in zip(names, dictionary, strict=True):
            texts[-1] = texts[-1].append_column(name, column)
    both = texts[0].join(texts[1], keys=names, join_type="full outer")
    return both.rename_columns([_named(name, names, keys) for name in both.column_names])


def _named(name: str, names: Sequence[str], keys: Sequence[str]) -> str:
    return keys[names.index(name)] if name in names else name


def _text(column: Any) -> Any:
    """Return the values of a key as text; values that are equal have equal texts."""
    values = column
    if pa.types.is_struct(values.type):
        parts = [_text(pc.struct_field(values, index)) for index in range(values.type.num_fields)]
        return pc.binary_join_element_wise(*parts, " to ")
    return pc.fill_null(values.cast(pa.string()), "null")


def _check(table: pa.Table, names: Sequence[str]) -> None:
    missing = [name for name in names if name not in table.column_names]
    if missing:
        raise IllegalArgumentError(f"expected a column {missing[0]!r}, got {', '.join(table.column_names) or 'none'}")


def _group(table: pa.Table, keys: Sequence[str], index: int) -> str:
    return ", ".join(f"{key} {table.column(key)[index].as_py()}" for key in keys)
