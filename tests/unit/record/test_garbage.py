"""What the garbage collector has to look at."""

from __future__ import annotations

import gc

import pytest

from kafka import _variant
from kafka.record import BatchBuilder, decode_batches


@pytest.mark.skipif(_variant.variant() != "compiled", reason="plain Python cannot take objects from the collector")
def test_records_without_deserializers_are_not_tracked_by_the_garbage_collector() -> None:
    builder = BatchBuilder()
    builder.append(1_000, b"key", b"value")
    builder.append(1_000, None, b"value", [("name", b"header")])
    columns = decode_batches(builder.build(), topic="t", partition=0)
    for record in columns.to_records():
        assert not gc.is_tracked(record)
        assert not gc.is_tracked(record.headers)
        record.headers.append(("more", None))
        assert record.headers[-1] == ("more", None)
    (made, _) = columns.to_records(None, None, None, lambda topic, data, headers: [data])
    assert gc.is_tracked(made)


@pytest.mark.parametrize("enabled", [True, False])
def test_creating_records_restores_the_garbage_collector(enabled: bool) -> None:
    builder = BatchBuilder()
    for number in range(2000):
        builder.append(1, b"key", b"%d" % number)
    columns = decode_batches(builder.build())
    was_enabled = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        records = columns.to_records("t", 0)
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if was_enabled else gc.disable)()
    assert len(records) == 2000
