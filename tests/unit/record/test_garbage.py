"""What the garbage collector has to look at."""

from __future__ import annotations

import gc

import pytest

from kafka import _variant
from kafka.record import BatchBuilder, decode_batches


@pytest.mark.skipif(_variant.variant() != "compiled", reason="plain Python cannot take objects from the collector")
def test_records_without_deserializers_are_nothing_to_the_garbage_collector() -> None:
    builder = BatchBuilder()
    builder.append(1_000, b"key", b"value")
    builder.append(1_000, None, b"value", [("name", b"header")])
    columns = decode_batches(builder.build(), topic="t", partition=0)
    for record in columns.to_records():
        assert not gc.is_tracked(record)
        assert not gc.is_tracked(record.headers)
        record.headers.append(("more", None))
        assert record.headers[-1] == ("more", None)
    (made, _) = columns.to_records(None, None, None, lambda topic, data: [data])
    assert gc.is_tracked(made)
