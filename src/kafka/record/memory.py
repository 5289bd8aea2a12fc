# cython: boundscheck=False, wraparound=False
"""Memory for columns and batches. It is not cleared before use, and is reused if it is large.

The operating system provides large memory page by page on first access, which takes longer than decoding. Blocks of 64
KiB or more are therefore kept for reuse, up to a total of 128 MiB. Compiled with Cython; the plain variant uses
bytearrays instead.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # the plain variant does not need Cython
    from kafka import _cython as cython

if cython.compiled:
    from cython.cimports.cpython.buffer import PyBuffer_FillInfo
    from cython.cimports.cpython.mem import PyMem_RawFree, PyMem_RawMalloc

_KEPT_FROM = cython.declare(cython.Py_ssize_t, 64 << 10)
_KEPT_BYTES = cython.declare(cython.Py_ssize_t, 128 << 20)
_kept = cython.declare(list, [])
_kept_size = cython.declare(cython.Py_ssize_t, 0)


@cython.final
@cython.no_gc
@cython.cclass
class _Chunk:
    """Memory from the operating system (compiled variant only)."""

    memory: cython.p_uchar
    capacity: cython.Py_ssize_t

    def __cinit__(self, capacity: cython.Py_ssize_t) -> None:
        self.capacity = capacity
        self.memory = cython.cast(cython.p_uchar, PyMem_RawMalloc(capacity))
        if self.memory is cython.NULL:
            raise MemoryError(f"Cannot allocate {capacity} bytes of memory for records")

    def __dealloc__(self) -> None:
        PyMem_RawFree(self.memory)


@cython.cfunc
def _take(size: cython.Py_ssize_t) -> _Chunk:
    """Return the smallest kept chunk that fits `size` without wasting more than half of the chunk, or a new chunk."""
    global _kept_size
    chunk: _Chunk
    at: cython.Py_ssize_t
    best: cython.Py_ssize_t = -1
    smallest: cython.Py_ssize_t = size + size // 2
    if size < _KEPT_FROM:
        return _Chunk(max(size, 1))  # type: ignore[call-arg]
    for at in range(len(_kept)):
        chunk = _kept[at]
        if size <= chunk.capacity <= smallest:
            best, smallest = at, chunk.capacity
    if best < 0:
        return _Chunk(size + size // 8)  # type: ignore[call-arg]
    _kept_size -= smallest
    return _kept.pop(best)


@cython.cfunc
def _keep(chunk: _Chunk) -> cython.void:
    """Keep a chunk for reuse, replacing the oldest chunks if there are too many."""
    global _kept_size
    oldest: _Chunk
    if _KEPT_FROM <= chunk.capacity <= _KEPT_BYTES:
        _kept.append(chunk)
        _kept_size += chunk.capacity
        while _kept_size > _KEPT_BYTES:
            oldest = _kept.pop(0)
            _kept_size -= oldest.capacity


@cython.final
@cython.no_gc
@cython.cclass
class _Block:
    """A writable buffer (compiled variant only); its memory is kept while any view of it exists."""

    _chunk: _Chunk
    _size: cython.Py_ssize_t

    def __cinit__(self, size: cython.Py_ssize_t) -> None:
        self._chunk = _take(size)
        self._size = size

    def __dealloc__(self) -> None:
        if self._chunk is not None:
            _keep(self._chunk)

    def __len__(self) -> int:
        return self._size

    def __getbuffer__(self, view: cython.pointer(cython.Py_buffer), flags: cython.int) -> None:  # type: ignore[valid-type]
        PyBuffer_FillInfo(view, self, self._chunk.memory, self._size, 0, flags)


def allocate(size: cython.Py_ssize_t) -> memoryview:
    """Return a writable view of `size` bytes; in the compiled variant, its contents are undefined.

    Raises:
        MemoryError: there is not enough memory.
    """
    if cython.compiled:
        return memoryview(_Block(size))  # type: ignore[arg-type, call-arg]
    return memoryview(bytearray(size))


def cut(view: memoryview, size: cython.Py_ssize_t) -> memoryview:
    """Return the first `size` bytes of a view from `allocate`; copy if more than half of the memory would be wasted."""
    capacity: cython.Py_ssize_t = len(view)
    if size * 2 >= capacity or capacity < _KEPT_FROM:
        return view[:size]
    smaller = allocate(size)
    smaller[:] = view[:size]
    return smaller
