import errno
import mmap
import os
import threading

import pytest

from kafka.net.buffers import BufferPool


def test_a_released_buffer_is_reused():
    pool = BufferPool()
    first = pool.take(100_000)
    memory = first._buffer
    first.release()
    assert pool.take(99_000)._buffer is memory
    assert pool.held_bytes == 0


def test_the_view_has_exactly_the_size_asked_for():
    assert len(BufferPool().take(70_001).view) == 70_001


def test_a_second_release_does_nothing():
    pool = BufferPool()
    buffer = pool.take(100)
    buffer.release()
    held = pool.held_bytes
    buffer.release()
    assert pool.held_bytes == held


def test_a_small_frame_does_not_use_a_large_buffer():
    pool = BufferPool()
    large = pool.take(10_000_000)
    memory = large._buffer
    large.release()
    assert pool.take(100_000)._buffer is not memory


def test_the_smallest_fitting_buffer_is_used():
    pool = BufferPool()
    one, other = pool.take(1_000_000), pool.take(1_200_000)
    best = one._buffer
    other.release()
    one.release()
    assert pool.take(900_000)._buffer is best


def test_at_most_the_limit_is_kept():
    pool = BufferPool(max_bytes=1_000_000)
    buffers = [pool.take(400_000) for _ in range(5)]
    for buffer in buffers:
        buffer.release()
    assert pool.held_bytes <= 1_000_000


def test_dropping_a_buffer_only_costs_a_new_allocation():
    pool = BufferPool()
    pool.take(100_000)
    assert pool.held_bytes == 0
    assert len(pool.take(100_000).view) == 100_000


def test_threads_may_release_buffers_while_the_loop_takes_some():
    pool = BufferPool()
    errors = []

    def churn():
        try:
            for size in range(1, 2_000):
                pool.take(size * 50).release()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=churn) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert pool.held_bytes == sum(len(buffer) for buffer in pool._free)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_very_large_buffer_is_private_and_reused():
    pool = BufferPool()
    frame = pool.take(5_000_000)
    frame.view[:] = b"x" * 5_000_000
    pid = os.fork()
    if not pid:
        frame.view[:1] = b"y"
        os._exit(0)
    os.waitpid(pid, 0)
    assert bytes(frame.view[:2]) == b"xx"
    memory = frame._buffer
    frame.release()
    assert pool.take(4_900_000)._buffer is memory


def test_small_pages_are_used_if_the_system_has_no_large_ones(monkeypatch):
    def refuse(self, option):
        raise OSError(errno.EINVAL, "no such advice")

    monkeypatch.setattr("kafka.net.buffers.mmap.mmap", type("NoAdvice", (mmap.mmap,), {"madvise": refuse}))
    assert len(BufferPool().take(5_000_000).view) == 5_000_000
    monkeypatch.delattr("kafka.net.buffers.mmap.MADV_HUGEPAGE", raising=False)
    assert isinstance(BufferPool().take(5_000_000)._buffer, bytearray)


MIB = 1 << 20


def test_a_small_buffer_is_reused_for_any_small_frame():
    pool = BufferPool()
    first = pool.take(60_000)
    memory = first._buffer
    first.release()
    again = pool.take(1)
    assert again._buffer is memory
    assert len(again.view) == 1


@pytest.mark.parametrize("sizes", [(1_000_000, 1_200_000, 1_100_000), (1_200_000, 1_100_000, 1_000_000)])
def test_the_smallest_fitting_buffer_is_used_whatever_its_position(sizes):
    pool = BufferPool()
    buffers = [pool.take(size) for size in sizes]
    best = buffers[sizes.index(1_000_000)]._buffer
    for buffer in buffers:
        buffer.release()
    assert pool.take(900_000)._buffer is best


def test_the_last_returned_of_equal_buffers_is_used():
    pool = BufferPool()
    one, other = pool.take(100_000), pool.take(100_000)
    last = other._buffer
    one.release()
    other.release()
    assert pool.take(100_000)._buffer is last


def test_a_buffer_that_is_one_byte_too_small_is_not_used():
    pool = BufferPool()
    first = pool.take(65_536)
    memory = first._buffer
    first.release()
    assert pool.take(65_537)._buffer is not memory
    assert pool.take(65_536)._buffer is memory


def test_buffers_are_kept_up_to_the_limit_and_the_oldest_is_dropped_first():
    pool = BufferPool(max_bytes=3 * 65_536)
    buffers = [pool.take(1) for _ in range(4)]
    memories = [buffer._buffer for buffer in buffers]
    for buffer in buffers[:3]:
        buffer.release()
    assert pool.held_bytes == 3 * 65_536
    buffers[3].release()
    assert pool.held_bytes == 3 * 65_536
    kept = [pool.take(1)._buffer for _ in range(3)]
    assert pool.held_bytes == 0
    assert {id(each) for each in kept} == {id(each) for each in memories[1:]}


def test_at_most_32_buffers_are_kept():
    pool = BufferPool()
    buffers = [pool.take(1) for _ in range(40)]
    for buffer in buffers:
        buffer.release()
    assert pool.held_bytes == 32 * 65_536


@pytest.mark.skipif(not hasattr(mmap, "MADV_HUGEPAGE"), reason="no large pages here")
def test_large_pages_are_requested_from_4_mib_on(monkeypatch):
    asked = []

    class Noting(mmap.mmap):
        def madvise(self, option):
            asked.append((len(self), option))

    monkeypatch.setattr("kafka.net.buffers.mmap.mmap", Noting)
    pool = BufferPool()
    assert isinstance(pool.take(4 * MIB - 65_536)._buffer, bytearray)
    assert asked == []
    assert isinstance(pool.take(4 * MIB)._buffer, mmap.mmap)
    assert asked == [(4 * MIB, mmap.MADV_HUGEPAGE)]
