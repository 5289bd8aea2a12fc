"""`kafka.util`, with the results of kafka-python 1.0.2 on Python 2.7."""

from __future__ import annotations

import enum
import gc
import struct
import subprocess
import sys
import threading

import pytest

from kafka import util
from kafka.errors import BufferUnderflowError, KafkaTimeoutError
from kafka.structs import OffsetFetchRequestPayload

pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    ("data", "expected"),
    [(b"", 0), (b"kafka", 1539077399), (b"a", -390611389), (b"hello", 907060870)],
)
def test_a_crc_is_signed(data: bytes, expected: int) -> None:
    assert util.crc32(data) == expected


def test_strings_are_encoded_and_decoded() -> None:
    assert util.write_int_string(b"some string") == b"\x00\x00\x00\x0bsome string"
    assert util.write_int_string(b"") == b"\x00\x00\x00\x00"
    assert util.write_int_string(None) == b"\xff\xff\xff\xff"
    assert util.write_short_string(b"some string") == b"\x00\x0bsome string"
    assert util.write_short_string(None) == b"\xff\xff"
    assert util.read_int_string(b"..\x00\x00\x00\x03abcd", 2) == (b"abc", 9)
    assert util.read_int_string(b"\xff\xff\xff\xff", 0) == (None, 4)
    assert util.read_short_string(b"\x00\x00", 0) == (b"", 2)
    assert util.read_short_string(b"\xff\xff", 0) == (None, 2)
    assert util.relative_unpack(">hh", b"\x00\x01\x00\x00\x02", 0) == ((1, 0), 4)


def test_values_that_cannot_be_encoded_are_rejected() -> None:
    for write in (util.write_int_string, util.write_short_string):
        with pytest.raises(TypeError, match="to be bytes"):
            write("text")  # type: ignore[arg-type]
    with pytest.raises(struct.error):
        util.write_short_string(b" " * 33000)


@pytest.mark.parametrize("data", [b"", b"\x00", b"\x00\x00\x00\x08hell", b"\xff\xff\xff\xfe"])
def test_an_incomplete_string_raises_underflow(data: bytes) -> None:
    with pytest.raises(BufferUnderflowError):
        util.read_int_string(data, 0)


def test_other_incomplete_values_raise_underflow() -> None:
    with pytest.raises(BufferUnderflowError):
        util.read_short_string(b"\x00\x05hell", 0)
    with pytest.raises(BufferUnderflowError):
        util.relative_unpack(">hh", b"\x00", 0)


def test_payloads_are_grouped() -> None:
    payloads = [OffsetFetchRequestPayload("a", 0), OffsetFetchRequestPayload("a", 1), OffsetFetchRequestPayload("b", 0)]
    assert util.group_by_topic_and_partition(payloads) == {
        "a": {0: payloads[0], 1: payloads[1]},
        "b": {0: payloads[2]},
    }
    with pytest.raises(AssertionError, match="Duplicate OffsetFetchRequestPayloads for a 1"):
        util.group_by_topic_and_partition([payloads[1], payloads[1]])


def test_bytes_of_text() -> None:
    assert util.kafka_bytestring("ä") == b"\xc3\xa4"
    assert util.kafka_bytestring(b"\xff") == b"\xff"
    with pytest.raises(TypeError):
        util.kafka_bytestring(5)  # type: ignore[arg-type]


def test_a_timer_runs_until_it_is_stopped_and_can_be_restarted() -> None:
    calls = threading.Semaphore(0)
    timer = util.ReentrantTimer(1, lambda value, key: calls.release(value * key), 1, key=2)
    for _ in range(2):
        timer.start()
        assert calls.acquire(timeout=30)
        assert calls.acquire(timeout=30)
        thread = timer.thread
        timer.stop()
        assert thread is not None
        assert not thread.is_alive()
    timer.stop()


def test_a_timer_can_stop_itself() -> None:
    done = threading.Event()

    def call() -> None:
        timer.stop()
        done.set()

    timer = util.ReentrantTimer(1, call)
    timer.start()
    assert done.wait(30)


@pytest.mark.parametrize(("interval", "function"), [(0, print), (-1, print), (1, None)])
def test_invalid_timers_are_rejected(interval: int, function: None) -> None:
    with pytest.raises(ValueError, match=r"timeout|callable"):
        util.ReentrantTimer(interval, function)  # type: ignore[arg-type]


def test_an_expired_timer_raises() -> None:
    util.Timer(None).maybe_raise()
    left = util.Timer(60_000)
    assert left.timeout_ms is not None
    assert 0 < left.timeout_ms <= 60_000
    assert not left.expired
    with pytest.raises(KafkaTimeoutError, match="too late"):
        util.Timer(0, "too late").maybe_raise()


class Counter:
    def __init__(self) -> None:
        self.count = 0

    def add(self, number: int) -> int:
        self.count += number
        return self.count


def test_a_weak_method_is_callable_and_comparable_and_keeps_no_reference() -> None:
    counter = Counter()
    weak, other = util.WeakMethod(counter.add), util.WeakMethod(counter.add)
    assert (weak(2), other(3)) == (2, 5)
    assert weak == other
    assert hash(weak) == hash(other)
    assert weak != util.WeakMethod(Counter().add)
    assert weak != counter.add
    del counter
    gc.collect()
    with pytest.raises(ReferenceError):
        weak(1)


@pytest.mark.slow
def test_a_method_is_called_at_exit() -> None:
    code = """
from kafka.util import Dict, try_method_on_system_exit
class Client:
    def close(self, word):
        print(word)
kept, gone = Client(), Client()
try_method_on_system_exit(kept, "close", "closed")
try_method_on_system_exit(gone, "close", word="gone")
try_method_on_system_exit(kept, "missing")
del gone
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert (done.stdout, done.stderr) == ("closed\n", "")


def test_helpers_for_classes() -> None:
    class Kind(util.EnumHelper, enum.IntEnum):
        A_B = 1

        @util.classproperty
        def title(cls) -> str:  # noqa: N805
            return "kinds"

    assert Kind.build_from(1) is Kind.build_from("a-b") is Kind.build_from(Kind.A_B) is Kind.A_B
    assert Kind.value_for("A_B") == 1
    with pytest.raises(ValueError, match="Unrecognized Kind: c"):
        Kind.build_from("c")

    class Locked:
        _lock = threading.Lock()

        @util.synchronized
        def held(self) -> bool:
            return self._lock.locked()

    assert Locked().held()
    with pytest.raises(ValueError, match="topic name"):
        util.ensure_valid_topic_name("a b")


def test_topic_name_errors_match_kafka_python_3() -> None:
    assert util.TOPIC_MAX_LENGTH == 249
    assert util.TOPIC_LEGAL_CHARS.match("a.b_c-9")
    assert not util.TOPIC_LEGAL_CHARS.match("a b")
    assert not util.TOPIC_LEGAL_CHARS.match("a\n")
