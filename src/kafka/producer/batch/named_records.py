"""Which records of a batch go to their partition because the caller named it, see `BatchFields.named`."""

from __future__ import annotations

import itertools
from collections.abc import Iterable


def are_named(runs: list[int] | None, count: int) -> bytearray:
    """One byte for each of `count` records: 1 where the caller named the partition."""
    flags = bytearray(count)
    if runs is not None:
        for start, stop in zip(runs[::2], runs[1::2], strict=True):
            flags[start:stop] = b"\1" * (stop - start)
    return flags


def runs_of(flags: Iterable[int]) -> list[int] | None:
    """The runs of the records with a flag; None if no record has one."""
    runs: list[int] = []
    at = 0
    for named, group in itertools.groupby(flags):
        end = at + sum(1 for _ in group)
        if named:
            runs += (at, end)
        at = end
    return runs or None
