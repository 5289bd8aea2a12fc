"""`KafkaBytes`: a buffer of fixed size that is written to and read from at one position."""

from __future__ import annotations


class KafkaBytes(bytearray):
    """Bytes of a known number, which are filled piece by piece and then read."""

    def __init__(self, size: int) -> None:
        """Take the number of bytes."""
        super().__init__(size)
        self._position = 0

    def read(self, nbytes: int | None = None) -> bytes:
        """Return the next bytes, all that are left unless told how many, and move behind them."""
        start = self._position
        self._position = len(self) if nbytes is None else min(start + nbytes, len(self))
        return bytes(self[start : self._position])

    def write(self, data: bytes) -> None:
        """Put bytes at the position and move behind them."""
        end = self._position + len(data)
        self[self._position : end] = data
        self._position = end

    def seek(self, idx: int) -> None:
        """Move to a position."""
        self._position = idx

    def tell(self) -> int:
        """Return the position."""
        return self._position

    def __str__(self) -> str:
        return f"KafkaBytes({len(self)})"

    def __repr__(self) -> str:
        return str(self)
