"""Random Arrow types that JSON can represent, with values."""

from __future__ import annotations

import datetime
import decimal
import struct
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

_TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
_DAY = datetime.timedelta(days=1)
_EPOCH = datetime.datetime(1970, 1, 1)


def _whole(bits: int, signed: bool) -> st.SearchStrategy[int]:
    return st.integers(-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else st.integers(0, (1 << bits) - 1)


def _decimals(precision: int, scale: int) -> st.SearchStrategy[decimal.Decimal]:
    most = 10**precision - 1
    return st.integers(-most, most).map(lambda number: decimal.Decimal(number).scaleb(-scale, decimal.Context(prec=80)))


def _moments(unit: int) -> st.SearchStrategy[datetime.datetime]:
    """Datetimes with a precision of `unit` units per second."""
    first, last = (
        (datetime.datetime(1, 1, 1) - _EPOCH).total_seconds(),
        (datetime.datetime(9999, 12, 31) - _EPOCH).total_seconds(),
    )
    seconds = st.one_of(st.integers(int(first), int(last)), st.integers(-100, 100))
    return st.builds(
        lambda whole, part: _EPOCH + datetime.timedelta(seconds=whole, microseconds=part * (1_000_000 // unit)),
        seconds,
        st.integers(0, unit - 1),
    )


_TIMES = st.times().map(lambda time: time.replace(fold=0))
SIMPLE: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.null(), st.none()),
    (pa.bool_(), st.booleans()),
    (pa.int8(), _whole(8, True)),
    (pa.int16(), _whole(16, True)),
    (pa.int32(), _whole(32, True)),
    (pa.int64(), _whole(64, True)),
    (pa.uint8(), _whole(8, False)),
    (pa.uint16(), _whole(16, False)),
    (pa.uint32(), _whole(32, False)),
    (pa.uint64(), _whole(64, False)),
    (pa.float32(), st.floats(allow_nan=False, allow_infinity=False, width=32)),
    (pa.float64(), st.floats(allow_nan=False, allow_infinity=False)),
    (
        pa.float64(),
        st.builds(lambda digits, places: digits / 10**places, st.integers(-(10**16), 10**16), st.integers(0, 9)),
    ),
    (
        pa.float32(),
        st.integers(-(10**7), 10**7).map(lambda digits: struct.unpack("f", struct.pack("f", digits / 1000))[0]),
    ),
    (pa.decimal128(5, 2), _decimals(5, 2)),
    (pa.decimal128(38, 20), _decimals(38, 20)),
    (pa.decimal128(18, 0), _decimals(18, 0)),
    (pa.decimal256(76, 76), _decimals(76, 76)),
    (pa.string(), _TEXT),
    (pa.binary(), st.binary(max_size=12)),
    (pa.binary(3), st.binary(min_size=3, max_size=3)),
    (pa.date32(), st.dates()),
    (pa.time32("s"), _TIMES.map(lambda time: time.replace(microsecond=0))),
    (pa.time32("ms"), _TIMES.map(lambda time: time.replace(microsecond=time.microsecond // 1000 * 1000))),
    (pa.time64("us"), _TIMES),
    (pa.timestamp("s"), _moments(1)),
    (pa.timestamp("ms", "UTC"), _moments(1_000).map(lambda moment: moment.replace(tzinfo=datetime.UTC))),
    (pa.timestamp("us", "Europe/Berlin"), _moments(1_000_000).map(lambda moment: moment.replace(tzinfo=datetime.UTC))),
    (pa.timestamp("ns"), st.datetimes(datetime.datetime(1678, 1, 1), datetime.datetime(2262, 1, 1))),
]


@st.composite
def types(draw: Any, depth: int = 3) -> tuple[pa.DataType, st.SearchStrategy[Any]]:
    """A type, and a strategy for its values."""
    kind = draw(st.sampled_from(["simple"] * 3 + (["list", "map", "struct", "struct"] if depth else [])))
    if kind == "simple":
        return draw(st.sampled_from(SIMPLE))
    if kind == "struct":
        names = draw(st.lists(_TEXT, max_size=5, unique=True))
        fields, values = [], {}
        for name in names:
            inner, strategy = draw(types(depth - 1))
            nullable = pa.types.is_null(inner) or draw(st.booleans())
            fields.append(pa.field(name, inner, nullable))
            values[name] = st.one_of(st.none(), strategy) if nullable else strategy
        return pa.struct(fields), st.fixed_dictionaries(values)
    inner, strategy = draw(types(depth - 1))
    if kind == "list":
        return pa.list_(inner), st.lists(st.one_of(st.none(), strategy), max_size=4)
    entries = st.dictionaries(_TEXT, st.one_of(st.none(), strategy), max_size=4)
    return pa.map_(pa.string(), inner), entries.map(lambda found: list(found.items()))


@st.composite
def columns(draw: Any) -> pa.Array:
    """A column, which may be a slice of a longer one."""
    type_, strategy = draw(types())
    values = draw(st.lists(st.one_of(st.none(), strategy), max_size=6))
    array = pa.array(values, type_)
    return array.slice(draw(st.integers(0, len(values))))
