"""Records are shown in a notebook as small tables, whatever they contain."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kafka import TopicPartition
from kafka.consumer.records.build_records import ConsumerRecords
from kafka.consumer.share.materializer import ShareConsumerRecord
from kafka.display import html_tables
from kafka.record import BatchBuilder, ConsumerRecord, decode_batches
from unit.display.shown import SCRIPT, Shown


def record(value: Any = b"v", offset: int = 7, **more: Any) -> ConsumerRecord[Any, Any]:
    return ConsumerRecord("t", 1, offset=offset, timestamp=1_700_000_000_123, value=value, **more)


def test_a_record_shows_its_fields_and_its_time_as_a_date() -> None:
    shown = Shown(record(key="k", headers=[("h", b"1")])._repr_html_())
    assert shown.texts[0] == "ConsumerRecord"
    assert [row for row in shown.rows if row[0] not in ("headers",)] == [
        ["topic", "t"],
        ["partition", "1"],
        ["offset", "7"],
        ["timestamp", "2023-11-14 22:13:20.123+00:00"],
        ["key", "'k'"],
        ["value", "b'v'"],
    ]
    assert shown.fact("headers") == "[('h', b'1')]"


def test_record_contents_are_escaped() -> None:
    hostile = ConsumerRecord(
        SCRIPT, 0, offset=1, timestamp=0, key=SCRIPT, value=SCRIPT.encode(), headers=[(SCRIPT, SCRIPT.encode())]
    )
    for html in (hostile._repr_html_(), ConsumerRecords({TopicPartition(SCRIPT, 0): [hostile]})._repr_html_()):
        assert "<script" not in html
        assert Shown(html).text.count("<script>") == 5


def test_invisible_characters_and_lone_surrogates_are_shown() -> None:
    shown = Shown(ConsumerRecord("a\u202eb\ud800", 0)._repr_html_())
    assert shown.fact("topic") == "a\\u202eb\\ud800"


def test_a_large_value_is_shortened() -> None:
    for value in (
        b"x" * 1_000_000,
        "x" * 1_000_000,
        {"a": ["x" * 1_000_000] * 1_000},
        10**5_000,
        [[[[[[1]]]]]] * 9_000,
    ):
        assert len(record(value)._repr_html_()) < 2_000
    assert Shown(record(b"x" * 1_000)._repr_html_()).fact("value").endswith("(1,000 bytes)")


class _Unwilling:
    def __repr__(self) -> str:
        raise RuntimeError(SCRIPT)


def test_a_value_whose_repr_fails_does_not_hide_others() -> None:
    found = ConsumerRecords({TopicPartition("t", 1): [record(_Unwilling()), record(b"other", 8)]})
    shown = Shown(found._repr_html_())
    assert "_Unwilling" in shown.rows[1][5]
    assert shown.rows[2][5] == "b'other'"


@pytest.mark.parametrize(
    ("given", "shown"), [(-1, ""), (None, ""), (2**62, str(2**62)), (0, "1970-01-01 00:00:00.000+00:00")]
)
def test_an_invalid_timestamp_is_shown_unchanged(given: int | None, shown: str) -> None:
    assert html_tables.time(given) == shown


def test_the_first_of_many_records_are_shown_and_the_rest_counted() -> None:
    found = ConsumerRecords({TopicPartition("t", 1): [record(offset=at) for at in range(1_234)]})
    shown = Shown(found._repr_html_())
    assert shown.texts[0] == "1,234 record(s) of 1 partition(s)"
    assert [row[2] for row in shown.rows[1:]] == [str(at) for at in range(10)]
    assert shown.texts[-1] == "and 1,224 more"


def test_only_the_shown_records_are_read() -> None:
    def records() -> Iterator[ConsumerRecord[Any, Any]]:
        yield from (record() for _ in range(html_tables.MOST_ROWS + 1))
        raise AssertionError("one too many")

    assert len(Shown(html_tables.many_records("t", records(), 99)).rows) == 1 + html_tables.MOST_ROWS


def test_the_columns_of_a_partition_show_their_first_records() -> None:
    builder = BatchBuilder()
    for at in range(12):
        builder.append(1_000 + at, b"<k>", SCRIPT.encode(), [])
    columns = decode_batches(builder.build(), topic=SCRIPT, partition=3)
    html = columns._repr_html_()
    assert "<script" not in html
    shown = Shown(html)
    assert shown.texts[0] == f"12 record(s) of {SCRIPT}-3"
    assert [row[1:3] for row in shown.rows[1:]] == [["3", str(at)] for at in range(10)]
    assert shown.rows[1][4:] == ["b'<k>'", repr(SCRIPT.encode()), "[]"]
    assert shown.texts[-1] == "and 2 more"


def test_no_records_are_a_single_line() -> None:
    assert Shown(ConsumerRecords()._repr_html_()).texts == ["0 record(s) of 0 partition(s)"]
    assert Shown(decode_batches(b"", topic=SCRIPT, partition=0)._repr_html_()).texts == [f"0 record(s) of {SCRIPT}-0"]


def test_a_record_of_a_share_group_shows_how_often_it_was_delivered() -> None:
    assert Shown(ShareConsumerRecord.of(tuple(record()), 3)._repr_html_()).fact("delivery_count") == "3"
