"""The shared receive buffers: large ones are used only while requests are received."""

from __future__ import annotations

from kafka.broker.receive_buffer import BufferPool

MIB = 1 << 20


def test_a_returned_buffer_is_reused() -> None:
    pool = BufferPool()
    small, large = bytearray(MIB), bytearray(4 * MIB)
    pool.give(large)
    pool.give(small)
    assert pool.take(MIB // 2, 1000) is small
    assert pool.take(2 * MIB, 1000) is large
    assert len(pool.take(2 * MIB, 1000)) == 1000


def test_the_pool_is_limited() -> None:
    pool = BufferPool(4 * MIB)
    kept = bytearray(3 * MIB)
    for buffer in (kept, bytearray(MIB), bytearray(5 * MIB), bytearray(MIB)):
        pool.give(buffer)
        assert pool.nbytes <= 4 * MIB
    assert pool.take(3 * MIB, 1) is kept
