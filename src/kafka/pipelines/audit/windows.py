"""Compares the rows of an aggregating query by window or other group: the counts in the sink with the expected ones.

Rows of an aggregation have no positions of input records, but a column with the number of rows of each group says how
many records it contains. `compare_groups` compares two tables, whatever computed them. `groups` computes the expected
one, and reads the other one from the sink.
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
_ALL = "all rows"
"""The column that stands for the key if there is only one group."""


@dataclasses.dataclass(frozen=True, slots=True)
class GroupBalance:
    """The comparison of counts by window or other group.

    Arguments:
        expected: number of rows in all expected groups, without late rows and open windows.
        found: number of rows in all groups of the sink.
        groups: number of expected groups.
        differing: number of groups that differ.
        faults: what differs, at most `MAX_GROUPS` groups of each kind.
        late: number of rows that are not expected because they were older than the watermark.
        open: number of windows that are not expected yet, because the watermark has not passed their end.
    """

    expected: int
    found: int
    groups: int
    differing: int
    faults: tuple[Fault, ...]
    late: int = 0
    open: int = 0

    @property
    def balances(self) -> bool:
        """Whether the counts add up."""
        return not self.faults

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as values for JSON, without the faults."""
        names = ("expected", "found", "groups", "differing", "late", "open")
        return {name: getattr(self, name) for name in names}


def compare_groups(
    expected: pa.Table, found: pa.Table, keys: Sequence[str], count: str, *, updates: bool = False
) -> GroupBalance:
    """Compare the counts of groups.

    Arguments:
        expected: a row for each group that a new evaluation returns, with its count.
        found: the rows in the sink.
        keys: the columns that identify a group, such as the start of a window; empty if there is only one group.
        count: the column with the number of rows of the group.
        updates: whether the sink has a row for each change of a group, as in output mode update. The largest count of a
            group, which only increases, is its last one. Otherwise, several rows for a group are a fault.

    Returns the comparison. Raises `IllegalArgumentError` if a column does not exist, or if an expected group is there
    twice.
    """
    _check(expected, [*keys, count])
    _check(found, [*keys, count])
    names = list(keys) or [_ALL]
    wanted = _by_group(expected, keys, count, "expected")
    if (repeated := np.flatnonzero(_numbers(wanted.column("expected_count")) > 1)).size:
        group = _group(wanted, names, int(repeated[0]))
        raise IllegalArgumentError(f"expected: expected a row for each group, got several for {group}")
    both = wanted.join(_by_group(found, keys, count, "found"), keys=names, join_type="full outer").sort_by(
        [(name, "ascending") for name in names]
    )
    least, there, times = (_numbers(both.column(name)) for name in ("expected_max", "found_max", "found_count"))
    faults = []
    differing = np.flatnonzero(least != there)
    for row in differing[:MAX_GROUPS].tolist():
        text = f"{_group(both, names, row)}: {least[row]} rows expected, {there[row]} in the sink"
        faults.append(Fault(FaultKind.WINDOW_DIFFERS, None, (), 0, text))
    several = np.flatnonzero(times > 1) if not updates else np.empty(0, np.int64)
    for row in several[:MAX_GROUPS].tolist():
        text = f"{_group(both, names, row)}: {times[row]} rows in the sink, 1 expected"
        faults.append(Fault(FaultKind.WINDOW_REPEATED, None, (), 0, text))
    is_wrong = np.union1d(differing, several)
    return GroupBalance(int(least.sum()), int(there.sum()), int((least > 0).sum()), len(is_wrong), tuple(faults))


def _by_group(table: pa.Table, keys: Sequence[str], count: str, what: str) -> pa.Table:
    """Return a row for each group, with its keys as text, the largest count and the number of rows."""
    columns = {key: texts(table.column(key)) for key in keys} or {_ALL: pa.array(["all"] * table.num_rows)}
    counts = pc.fill_null(table.column(count), 0).cast(pa.int64())
    found = pa.table({**columns, what: counts}).group_by(list(columns), use_threads=False)
    return found.aggregate([(what, "max"), (what, "count")])


def texts(values: Any) -> Any:
    """Return the values of a key as text; values that are equal have equal texts, whatever wrote them."""
    kind = values.type
    if pa.types.is_struct(kind):
        chunks = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
        parts = [texts(pc.struct_field(chunks, index)) for index in range(kind.num_fields)]
        return pc.binary_join_element_wise(*parts, " to ")
    if pa.types.is_timestamp(kind):
        values = pc.strftime(values.cast(pa.timestamp("us", kind.tz)).cast(pa.timestamp("us")), "%Y-%m-%d %H:%M:%S")
        values = pc.replace_substring_regex(values, r"\.0+$", "")
    return pc.fill_null(values.cast(pa.string()), "null")


def _numbers(column: Any) -> Any:
    """Return counts as an array of numpy; 0 for null."""
    return pc.fill_null(column, 0).to_numpy().astype(np.int64)


def _check(table: pa.Table, names: Sequence[str]) -> None:
    missing = [name for name in names if name not in table.column_names]
    if missing:
        raise IllegalArgumentError(f"expected a column {missing[0]!r}, got {', '.join(table.column_names) or 'none'}")


def _group(table: pa.Table, keys: Sequence[str], index: int) -> str:
    return ", ".join(f"{key} {table.column(key)[index].as_py()}" for key in keys)
