import struct

import pytest

from kafka.errors import InvalidReceiveError
from kafka.net.buffers import BufferPool
from kafka.net.frame_stream import SHARED_BYTES, FrameCutter

pytestmark = pytest.mark.once


class Sink:
    def __init__(self, stop_after=None):
        self.frames, self.pooled, self.stop_after = [], [], stop_after

    def __call__(self, view, buffer):
        self.frames.append(bytes(view))
        self.pooled.append(buffer)
        return self.stop_after is None or len(self.frames) < self.stop_after


def framed(*payloads):
    return b"".join(struct.pack(">i", len(payload)) + payload for payload in payloads)


def feed(cutter, data, chunk=None):
    position = 0
    while position < len(data):
        room = cutter.target
        assert len(room) > 0
        count = min(len(room), len(data) - position, chunk or len(data))
        room[:count] = data[position : position + count]
        cutter.received(count)
        position += count


@pytest.mark.parametrize("chunk", [1, 3, 4, 5, 1000, 40_000, None])
def test_frames_are_complete_however_the_stream_is_split(chunk):
    payloads = [b"a", b"", b"b" * 100, b"c" * (SHARED_BYTES - 4), b"d" * (SHARED_BYTES - 3), b"e" * 200_000, b"f" * 7]
    sink = Sink()
    feed(FrameCutter(sink, 1 << 20, BufferPool()), framed(*payloads), chunk)
    assert sink.frames == payloads


def test_only_frames_too_large_for_the_shared_buffer_get_their_own():
    sink = Sink()
    feed(FrameCutter(sink, 1 << 20, BufferPool()), framed(b"x" * (SHARED_BYTES - 4), b"y" * (SHARED_BYTES - 3)))
    assert [buffer is not None for buffer in sink.pooled] == [False, True]


@pytest.mark.parametrize("size", [-1, 1025, 2**31 - 1, -(2**31)])
def test_an_impossible_size_is_rejected(size):
    with pytest.raises(InvalidReceiveError):
        feed(FrameCutter(Sink(), 1024, BufferPool()), struct.pack(">i", size))


def test_a_frame_of_the_maximum_size_is_accepted():
    sink = Sink()
    feed(FrameCutter(sink, 1024, BufferPool()), framed(b"x" * 1024))
    assert len(sink.frames[0]) == 1024


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\x15\x03\x03\x00\x02\x02\x0a", "speaks TLS"),
        (b"HTTP/1.1 400 Bad Request\r\n", "HTTP server"),
        (struct.pack(">i", 5000), "receive_message_max_bytes"),
        (b"\xff\0\0\0", "is it a Kafka broker"),
    ],
)
def test_the_error_describes_the_peer(data, said):
    with pytest.raises(InvalidReceiveError, match=said):
        feed(FrameCutter(Sink(), 4096, BufferPool()), data)


def test_a_sink_that_stops_gets_no_more_frames_of_the_read():
    sink = Sink(stop_after=1)
    feed(FrameCutter(sink, 1024, BufferPool()), framed(b"one", b"two"))
    assert sink.frames == [b"one"]


def test_a_large_announced_size_costs_at_most_one_buffer():
    pool = BufferPool()
    cutter = FrameCutter(Sink(), 1 << 20, pool)
    assert not cutter.mid_frame
    feed(cutter, struct.pack(">i", 1 << 20) + b"x" * 10)
    assert cutter.mid_frame
    assert len(cutter.target) == (1 << 20) - 10
