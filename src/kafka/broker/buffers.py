"""Large receive buffers, shared by the connections; an idle connection holds none."""

from typing import Final

_KEPT_BYTES: Final = 16 * 1024 * 1024


class BufferPool:
    """Keeps large buffers that nobody uses at present, up to a limit in all."""

    def __init__(self, kept_bytes: int = _KEPT_BYTES) -> None:
        self._limit = kept_bytes
        self._kept: list[bytearray] = []

    @property
    def nbytes(self) -> int:
        """The bytes kept."""
        return sum(map(len, self._kept))

    def take(self, wanted: int, at_least: int) -> bytearray:
        """A buffer of at least `wanted` bytes if one is kept, else a new one of `at_least` bytes."""
        fits = [number for number, buffer in enumerate(self._kept) if len(buffer) >= wanted]
        return self._kept.pop(fits[0]) if fits else bytearray(at_least)

    def give(self, buffer: bytearray) -> None:
        """Keep a buffer that is used no more; the smallest ones go where there are too many."""
        self._kept.append(buffer)
        self._kept.sort(key=len)
        while self.nbytes > self._limit:
            # A buffer above the limit takes no other's place.
            del self._kept[-1 if len(self._kept[-1]) > self._limit else 0]
