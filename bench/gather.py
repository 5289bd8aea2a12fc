"""Summing up records that come one by one: the program's own part of a task, the same for each client."""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable
from typing import Any

from bench.job import BATCH_RECORDS, Job, Watch


def sum_up(keys: list[bytes], values: list[bytes], watch: Watch) -> bool:
    """Add what has been gathered to the sums, and empty the lists; tells whether all records have come."""
    watch.sums.add(keys, values)
    keys.clear()
    values.clear()
    return watch.done()


def gather(records: Iterable[Any], job: Job, watch: Watch) -> None:
    """Take records with `key` and `value` until all have come."""
    keys: list[bytes] = []
    values: list[bytes] = []
    left = job.count
    for record in records:
        keys.append(record.key)
        values.append(record.value)
        left -= 1
        if (len(keys) == BATCH_RECORDS or not left) and sum_up(keys, values, watch):
            break


async def gather_async(records: AsyncIterable[Any], job: Job, watch: Watch) -> None:
    """As `gather`, from an asynchronous iterator."""
    keys: list[bytes] = []
    values: list[bytes] = []
    left = job.count
    async for record in records:
        keys.append(record.key)
        values.append(record.value)
        left -= 1
        if (len(keys) == BATCH_RECORDS or not left) and sum_up(keys, values, watch):
            break
