"""Merges small Arrow batches, as each batch costs its receiver a fixed amount of work."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow


def coalesced(batches: Iterable["pyarrow.RecordBatch"], at_least: int) -> Iterator[list["pyarrow.RecordBatch"]]:
    """The batches in their order, in lists of at least so many bytes each; only the last list may have fewer.

    A batch that is large enough by itself is a list of its own, and ends the list before it: joining a list copies its
    batches, which is only worth it for small ones.
    """
    held: list[pyarrow.RecordBatch] = []
    size = 0
    for batch in batches:
        if held and batch.nbytes >= at_least:
            yield held
            held, size = [], 0
        held.append(batch)
        size += batch.nbytes
        if size >= at_least:
            yield held
            held, size = [], 0
    if held:
        yield held
