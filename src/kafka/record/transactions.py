"""Which batches belong to transactions that were aborted (KIP-98)."""

from __future__ import annotations

from collections.abc import Iterable


class AbortedTransactions:
    """Follows the batches of a partition in their order, as a fetch response with its list of aborted ones tells.

    Args:
        listed: `(producer_id, first_offset)` of the transactions that the response lists as aborted.
    """

    def __init__(self, listed: Iterable[tuple[int, int]]) -> None:
        self._ahead = sorted(listed, key=_first_offset, reverse=True)
        self._open: set[int] = set()

    @property
    def any(self) -> bool:
        """Whether the response lists any."""
        return bool(self._ahead or self._open)

    def reach(self, last_offset: int) -> None:
        """Take note of the transactions that have begun by the last offset of a batch."""
        while self._ahead and self._ahead[-1][1] <= last_offset:
            self._open.add(self._ahead.pop()[0])

    def has(self, producer_id: int) -> bool:
        """Whether what a producer has written at this place is aborted."""
        return producer_id in self._open

    def end(self, producer_id: int) -> None:
        """Take note of a marker that ends an aborted transaction."""
        self._open.discard(producer_id)


def _first_offset(transaction: tuple[int, int]) -> int:
    return transaction[1]
