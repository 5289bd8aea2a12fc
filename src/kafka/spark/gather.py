"""Small Arrow batches put together, as each costs whoever takes it a fixed amount of work."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow


def gathered(batches: Iterable["pyarrow.RecordBatch"], at_least: int) -> Iterator[list["pyarrow.RecordBatch"]]:
    """The batches in their order, in lists of at least so many bytes, the last one aside."""
    held: list[pyarrow.RecordBatch] = []
    size = 0
    for batch in batches:
        held.append(batch)
        size += batch.nbytes
        if size >= at_least:
            yield held
            held, size = [], 0
    if held:
        yield held
