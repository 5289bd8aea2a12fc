"""The language of filters: fields, operators, the meaning of missing fields, and what is rejected."""

from __future__ import annotations

import datetime
import uuid
from decimal import Decimal

import pytest

from kafka.filters import MISSING, Filter, FilterError, FilterRecord, RecordField

NOW = datetime.datetime(2026, 1, 2, 12, tzinfo=datetime.UTC)
DOCUMENT = (
    b'{"status": "PAID", "amount": 10.1, "big": 9007199254740993, "paid": true, "note": null, "odd-name": 1,'
    b' "items": [{"sku": "a-1"}, {"sku": "b-2"}], "tags": ["x", 7, null], "at": "2026-01-02T10:00:00Z", "in": 3,'
    b' "price": "12.50", "address": {"city": "K\\u00f6ln"}}'
)
RECORD = FilterRecord(
    topic="orders",
    partition=3,
    offset=2**60 + 1,
    timestamp=1767348000000,  # 2026-01-02T10:00Z
    key=b"42",
    value=DOCUMENT,
    headers=[("source", b"old"), ("source", b"shop"), ("content-type", b"json"), ("a.b", None), ("meta", b'{"n": 5}')],
)

MATCHES = """
value.status = 'PAID' and value.amount > 10
value.status == "PAID"
value.status <> 'NEW'
value.amount = 10.1
value.big = 9007199254740993
value.big > 9007199254740992
value.items[0].sku = 'a-1'
value['items'][-1]['sku'] = 'b-2'
value.odd-name = 1
value.in = 3
value.paid
not value.paid = false
value.note is null
value.note exists
exists value.note
value.other is null
value.other not exists
not exists value.other
value.status is not null
value.status in ('NEW', 'PAID')
value.status not in ('NEW', 'OLD')
value.amount IN (1, 10.1)
value.tags contains 'x'
value.tags contains 7
value.status contains 'AI'
value contains 'PAID'
value like '%"PAID"%'
value.status like 'P_I%'
value.status not like 'P'
value.status matches '^(P|Q)A+ID$'
value.address contains 'Köln'
value.address.city matches '(?i)köln'
lower(value.status) = 'paid'
number(value.price) > 12.4
number(value.price) = 12.5
10 < value.amount
value.amount < value.big
key = 42
key = '42'
key >= 41.5
headers.source = 'shop'
headers.content-type = 'json'
headers['content-type'] like 'j%'
headers['a.b'] exists
headers['a.b'] is null
headers.meta.n = 5
headers.none is null
topic = 'orders'
partition = 3
partition in (1, 3)
offset = 1152921504606846977
size > 100
timestamp = '2026-01-02T10:00:00+00:00'
timestamp > '3h'
timestamp > '3h ago'
timestamp < '90m' and timestamp < 'now'
timestamp > '@1767347999999'
timestamp >= 1767348000000
timestamp = value.at
value.at >= '2026-01-02'
value.status = 'NEW' or value.amount > 10 and value.paid
not (value.status = 'NEW' or value.amount < 10)
not not value.paid
"""
UNKNOWN = """
value.other = 1
value.other != 1
not value.other = 1
value.note = 'x'
value.status = 1
value.amount > '10'
value.paid = 1
value.status not in ('NEW', value.other)
value.items = 'x'
value.items.sku = 'a-1'
value.items[2].sku = 'a-1'
value.status.inner = 1
value.amount matches '1'
value.tags contains 'y' and value.other = 1 or value.other > 2
key.inner = 1
headers.none = 'x'
headers['a.b'] = 'x'
number(value.status) > 1
value.status
"""


@pytest.mark.parametrize("expression", MATCHES.strip().splitlines())
def test_expressions_that_match(expression: str) -> None:
    assert Filter(expression, NOW).result(RECORD) is True


@pytest.mark.parametrize("expression", UNKNOWN.strip().splitlines())
def test_expressions_whose_result_is_unknown(expression: str) -> None:
    condition = Filter(expression, NOW)
    assert condition.result(RECORD) is None
    assert not condition.matches(RECORD)
    assert not Filter(f"not ({expression})", NOW).matches(RECORD)


def test_expressions_that_are_false_are_not_unknown() -> None:
    for expression in ("value.status = 'NEW'", "value.other = 1 and value.status = 'NEW'", "headers.source = 'old'"):
        assert Filter(expression).result(RECORD) is False


def test_values_that_are_not_json_have_no_fields() -> None:
    for data in (b"text", b"\xff\x00", b"", b"NaN", b'{"a": 1', b"[" * 100_000, None):
        record = FilterRecord(value=data)
        assert Filter("value.a is null").matches(record)
        assert Filter("value.a = 1").result(record) is None
    assert Filter("value = 'text'").matches(FilterRecord(value=b"text"))
    assert Filter("value is null and key is null").matches(FilterRecord())
    assert Filter("value contains 'x'").result(FilterRecord(value=b"\xffx")) is None


def test_numbers_of_json_are_exact() -> None:
    value = b'{"a": 0.1, "b": 1e400, "c": 1E+99999999999999999999, "d": ' + b"9" * 5_000 + b"}"
    record = FilterRecord(value=value)
    assert Filter("value.a = 0.1 and value.b > 1e399 and value.d > value.b").matches(record)
    assert Filter("value.c > 1").result(record) is None


def test_decoded_objects_are_compared_by_type() -> None:
    value = {
        "price": Decimal("0.30"),
        "rate": 0.1,
        "nan": float("nan"),
        "at": datetime.datetime(2026, 1, 2, 10, tzinfo=datetime.UTC),
        "day": datetime.date(2026, 1, 2),
        "id": uuid.UUID(int=1),
        "raw": b"ab",
        "list": ({"n": 1},),
    }
    record = FilterRecord(value=value, size=12, timestamp=1767348000000)
    for expression in (
        "value.price = 0.3 and value.rate = 0.1",
        "value.at > '2026-01-02T09:00Z' and value.at = timestamp",
        "value.day = '2026-01-02'",
        "value.id = '00000000-0000-0000-0000-000000000001'",
        "value.raw = 'ab' and size = 12 and value.list[0].n = 1",
        "value contains '0.3'",
    ):
        assert Filter(expression).matches(record), expression
    assert Filter("value.nan = value.nan").result(record) is None
    assert Filter("size > 0").result(FilterRecord(value={})) is None


def test_a_field_returns_its_content() -> None:
    assert RecordField("value.items[1].sku").of(RECORD) == "b-2"
    assert RecordField("value.big").of(RECORD) == 9007199254740993
    assert RecordField("value.note").of(RECORD) is None
    assert RecordField("value.other").of(RECORD) is MISSING
    assert RecordField("headers.source").of(RECORD) == b"shop"
    with pytest.raises(FilterError, match=r"expected '\.', '\[' or the end, found '='"):
        RecordField("value.a = 1")


def test_a_filter_names_the_fields_that_it_uses() -> None:
    condition = Filter(
        "value.a = 1 and (value.a > headers.b or not lower(key) in ('x', topic)) and exists value['c d']"
    )
    assert condition.fields == ("value.a", "headers.b", "key", "topic", "value['c d']")
    assert condition.roots == {"value", "headers", "key", "topic"}


REJECTED = {
    "": ("expected a condition such as value.status = 'PAID', found nothing", 0),
    "valeu.status = 1": ("unknown field 'valeu'; did you mean 'value'?", 0),
    "status = 'x'": ("A field of JSON values is value.status", 0),
    "value.status = PAID": ("a text is 'PAID' in quotes", 15),
    "value.status 'PAID'": ("expected =, !=, <, <=, >, >=, in, like, matches, contains, is null or exists, found", 13),
    "partition = 'x'": ("partition is a number: expected a number, found a text", 12),
    "partition in (1, 'x')": ("expected a number, found a text", 17),
    "topic > 5": ("topic is a text", 8),
    "offset like '1%'": ("'like' applies to texts, not to a number", 0),
    "timestamp > 'soon'": ("expected a time such as", 12),
    "timestamp contains '1'": ("'contains' applies to texts and lists, not to a time", 0),
    "value.a = null": ("null is not comparable; write 'value.a is null'", 10),
    "value.a != null": ("write 'value.a is not null'", 11),
    "(value.a = 1": ("expected 'and', 'or' or ')', found the end", 12),
    "value.a = 1)": ("expected 'and', 'or' or the end, found ')'", 11),
    "value.a = 1 && key = 'x'": ("unexpected character '&&'; write 'and'", 12),
    "value.a in 1": ("expected '(', found '1'", 11),
    "value.a in (1": ("expected ',' or ')'", 13),
    "value.a is 5": ("expected 'null' or 'not null', found '5'", 11),
    "value.a not = 1": ("expected in, like, matches, contains or exists, found '='", 12),
    "value.a =": ("expected a field (key, value, headers,", 9),
    "topic.x = 1": ("topic has no fields", 6),
    "headers = 'x'": ("expected the name of a header", 8),
    "headers[0] = 'x'": ("expected the name of a header", 11),
    "value[1.5] = 1": ("expected a quoted name or the index of an array", 6),
    "value.a = 'x": ("the text that begins here has no closing '", 10),
    "value.a matches '('": ("expected a regular expression", 16),
    "value.a matches '(a)\\1'": ("references to groups", 16),
    "value.a matches key": ("expected a quoted pattern after 'matches'", 16),
    "value.a like '%\\'": ("expected a character after the backslash", 13),
    "value.a = 1e99999999999999999999": ("out of range", 10),
    "topic": ("expected =, !=", 5),
    "'x'": ("expected =, !=", 3),
    "value.a > 1 value.b": ("expected 'and', 'or' or the end, found 'value'", 12),
}


@pytest.mark.parametrize("expression", REJECTED)
def test_a_mistake_is_reported_at_its_position(expression: str) -> None:
    message, position = REJECTED[expression]
    with pytest.raises(FilterError) as caught:
        Filter(expression)
    assert message in caught.value.message
    assert caught.value.position == position
    *_, shown, caret = str(caught.value).split("\n")
    assert caret.index("^") - 2 == position
    assert shown == f"  {expression}"


def test_the_caret_is_below_the_mistake_in_long_and_wide_expressions() -> None:
    with pytest.raises(FilterError) as caught:
        Filter("value.a = '" + "x" * 300 + "' and ? and " + "y" * 300)
    shown, caret = caught.value.excerpt()
    assert shown[caret.index("^")] == "?"
    assert shown[0] == shown[-1] == "…"
    assert len(shown) < 110
    with pytest.raises(FilterError) as caught:
        Filter("value.a = '日本\x1b' ?")
    shown, caret = caught.value.excerpt()
    assert "\x1b" not in shown
    assert len(caret) - 1 == len("value.a = '") + 4 + 1 + len("' ")


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("(" * 10_000 + "key = 1", "at most 50 nested parentheses"),
        ("not " * 4_000 + "value.a", "at most 50 nested parentheses and negations"),
        ("lower(" * 3_000 + "key", "at most 50 nested"),
        ("value" + ".a" * 9_000 + " = 1", "at most 50 names and indexes"),
        ("key = 1 or " * 5_000, "at most 20,000 characters, found 55,000"),
        ("key = " + "9" * 10_000, "a number of at most 1,000 characters"),
        ("key matches '" + "a" * 3_000 + "'", "at most 2,000 characters"),
        ("key matches '(((a{1,90}){1,90}){1,90})'", "too large"),
        ("key matches '" + "(" * 900 + ")" * 900 + "'", "regular expression"),
    ],
)
def test_hostile_expressions_are_rejected(expression: str, message: str) -> None:
    with pytest.raises(FilterError, match=message):
        Filter(expression)


def test_long_expressions_within_the_limits_are_evaluated() -> None:
    many = " or ".join(f"key = {n}" for n in range(1_200))
    assert Filter(many).matches(FilterRecord(key=b"1199"))
    assert Filter("(" * 49 + "key = 1" + ")" * 49).matches(FilterRecord(key=b"1"))
