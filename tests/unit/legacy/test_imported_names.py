"""Names that modules of kafka-python have because they import them, and that programs import from there."""

from __future__ import annotations

import importlib
import struct
import subprocess
import sys

import pytest

import kafka.structs
from kafka._imported_names import _IMPORTED
from kafka.consumer.records.build_records import ConsumerRecords
from kafka.protocol.types import Int16, _pack, _unpack
from kafka.record.util import calc_crc32c, crc32c_c, crc32c_py

pytestmark = pytest.mark.once

NAMES = [
    (module, name, home)
    for module, lines in _IMPORTED.items()
    for home, *names in (line.split() for line in lines.splitlines() if line.strip())
    for name in names
]


def test_each_name_is_the_same_object_as_in_its_module() -> None:
    for module, name, home in NAMES:
        there = getattr(importlib.import_module(home), name)
        assert getattr(importlib.import_module(module), name) is there, f"{module}.{name}"


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [
        "from kafka.client_async import BrokerConnection, ConnectionStates, ClusterMetadata, Future, selectors",
        "from kafka.client import KafkaTimeoutError, LeaderNotAvailableError, TopicPartition",
        "from kafka.consumer import ConsumerRecords",
        "from kafka.structs import ConsumerRecords",
        "from kafka.protocol.parser import log",
        "from kafka.vendor.enum34 import Enum, IntEnum",
        "from kafka.vendor.selectors34 import DefaultSelector, EVENT_READ",
        "from kafka.vendor import enum34, selectors34, six, socketpair",
    ],
)
def test_names_can_be_imported_first(line: str) -> None:
    subprocess.run([sys.executable, "-W", "error", "-c", line], check=True, timeout=60)


@pytest.mark.parametrize("module", ["kafka.structs", "kafka.client_async", "kafka.conn", "kafka.consumer", "kafka"])
def test_an_unknown_name_raises_the_usual_error(module: str) -> None:
    loaded = importlib.import_module(module)
    assert not hasattr(loaded, "NotThere")
    with pytest.raises(AttributeError, match=f"module '{module}' has no attribute 'NotThere'"):
        loaded.NotThere  # noqa: B018


def test_custom_types_can_use_pack_and_unpack() -> None:
    form = struct.Struct(">h")
    assert _pack(form.pack, 7) == Int16.encode(7)
    assert _unpack(form.unpack, _pack(form.pack, 7)) == 7
    with pytest.raises(ValueError, match="cannot write 70000"):
        _pack(form.pack, 70_000)
    with pytest.raises(ValueError, match="cannot read b'1'"):
        _unpack(form.unpack, b"1")


def test_both_checksum_implementations_agree() -> None:
    data = memoryview(b"123456789")
    assert crc32c_py(data) == crc32c_c(data) == calc_crc32c(data) == calc_crc32c(data, crc32c_py) == 0xE3069283


def test_polled_records_have_the_same_class_under_each_name() -> None:
    assert kafka.structs.ConsumerRecords is ConsumerRecords
