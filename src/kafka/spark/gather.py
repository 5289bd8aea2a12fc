"""Small Arrow batches put together, as each costs whoever takes it a fixed amount of work."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow


def gathered(batches: Iterable["pyarrow.RecordBatch"], at_least: int) -> Iterator[list["pyarrow.RecordBatch"]]:
    """The batches in their order, in lists of about so many bytes and more, the last one aside.

    One that has as many by itself stands alone, and those before it do not wait for more: whoever joins a list copies
    it, and is to copy small ones.
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
