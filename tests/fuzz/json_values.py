"""JSON values of many types, mostly damaged, decoded into columns and encoded again; Python's json is the reference."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pyarrow as pa

from fuzz import Disagreement
from kafka.formats.json.codec_options import DecodeOptions, EncodeOptions
from kafka.formats.json.column_decoder import JsonColumnDecoder
from kafka.formats.json.column_encoder import JsonColumnEncoder, JsonEncodeError
from kafka.formats.json.rows import json_syntax_error

VALUES = 20
"""How many values one input has."""
_BYTES = b'"\\{}[]:,0123456789eE+-. \n\ttrufalsnNIy\x00\x1f\x7f\x80\xc3\xa9\xed\xa0\xf0\x9f\xff/ubTZ'
_TEXTS = [
    "",
    "a",
    "id",
    "é😀",
    'a"b\\c\n',
    "x" * 30,
    "\ud800",
    "\udc00\ud800",
    "AAEC",
    "AAE=",
    "\x01",
    "n1",
    "2026-01-31",
    "NaN",
    "-Infinity",
]
_GOOD_TEXTS = ["", "a", "é😀", 'a"b\\c\n', "x" * 30]
_TIMES = [
    "2026-01-31T23:59:59.123456789Z",
    "0001-01-01T00:00:00+23:59",
    "9999-12-31 23:59:59-23:59",
    "1969-12-31T23:59:59",
    "2024-02-29",
    "12:34:56.25",
]
_NUMBERS = [
    "0",
    "-0",
    "1",
    "-1",
    "1.0",
    "1e2",
    "1.5",
    "127",
    "128",
    "-129",
    "2147483648",
    "9223372036854775807",
    "-9223372036854775808",
]
_NUMBERS += [
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e400",
    "-1e-400",
    "1e99999999999999999999",
    "0.1",
    "1e23",
]
_NUMBERS += [
    "9007199254740993",
    "123456789012345678901234567890.123456789",
    "3.4028235677973366e38",
    "3.5e38",
    "2.2250738585072011e-308",
    "0e5",
]
_NUMBERS += ["0." + "0" * 40 + "1", "1" * 70, "12345678901234567890e-3", "NaN", "Infinity", "-Infinity"]
_SIMPLE = [
    *(
        pa.null(),
        pa.bool_(),
        pa.int8(),
        pa.int16(),
        pa.int32(),
        pa.int64(),
        pa.uint8(),
        pa.uint16(),
        pa.uint32(),
        pa.uint64(),
    ),
    *(
        pa.float32(),
        pa.float64(),
        pa.float64(),
        pa.decimal128(5, 2),
        pa.decimal128(38, 10),
        pa.decimal256(76, 0),
        pa.string(),
        pa.string(),
    ),
    *(
        pa.binary(),
        pa.binary(2),
        pa.date32(),
        pa.time32("s"),
        pa.time32("ms"),
        pa.time64("us"),
        pa.time64("ns"),
        pa.json_(),
    ),
    *(
        pa.timestamp("s"),
        pa.timestamp("ms", "UTC"),
        pa.timestamp("us", "UTC"),
        pa.timestamp("ns"),
        pa.timestamp("ns", "UTC"),
    ),
]


def type_of(rng: Random, depth: int = 3) -> pa.DataType:
    """A random type."""
    kind = rng.randrange(6) if depth else 9
    if kind < 2:
        names = rng.sample([*_TEXTS[:6], *(f"n{number}" for number in range(30))], rng.choice((0, 1, 3, 7, 20)))
        return pa.struct([_field(rng, name, type_of(rng, depth - 1)) for name in names])
    if kind == 2:
        return pa.list_(_field(rng, "item", type_of(rng, depth - 1)))
    if kind == 3:
        return pa.map_(pa.string(), type_of(rng, depth - 1))
    return rng.choice(_SIMPLE)


def _field(rng: Random, name: str, type_: pa.DataType) -> Any:
    return pa.field(name, type_, rng.random() < 0.8 or pa.types.is_null(type_))


def text_of(rng: Random, type_: pa.DataType | None) -> str:
    """A value of a type as JSON, or of any where it is None; some are of another type."""
    if rng.random() < 0.01:
        return rng.choice(("null", "true", "{}", "[]", '""', "1"))
    if type_ is None or rng.random() < 0.005:
        type_ = type_of(rng, 1)
    gap = rng.choice(("", "", "", " ", "\n "))
    if pa.types.is_struct(type_):
        fields = [each for each in type_ if rng.random() < 0.95]
        if rng.random() < 0.3:
            rng.shuffle(fields)
        parts = [_entry(rng, each.name, each.type, gap) for each in fields]
        if rng.random() < 0.2:
            parts.insert(rng.randrange(len(parts) + 1), _entry(rng, rng.choice(_TEXTS), None, gap))
        return "{" + gap + f"{gap},".join(parts) + gap + "}"
    if pa.types.is_map(type_):
        keys = (
            rng.sample(_GOOD_TEXTS, k=rng.randrange(4))
            + rng.choices(_TEXTS, k=rng.choice((0, 0, 0, 0, 2)))
            + [str(number) for number in range(rng.choice((0, 0, 0, 20)))]
        )
        return "{" + ",".join(_entry(rng, key, type_.item_type, gap) for key in keys) + gap + "}"
    if pa.types.is_list(type_):
        return f"[{gap}" + f",{gap}".join(text_of(rng, type_.value_type) for _ in range(rng.randrange(4))) + "]"
    if pa.types.is_temporal(type_):
        known = [each for each in _TIMES if _is_time_of(each, type_)]
        return (
            json.dumps(rng.choice(known if rng.random() < 0.9 else _TIMES))
            if rng.random() < 0.9
            else rng.choice(_NUMBERS)
        )
    if pa.types.is_binary(type_) or pa.types.is_fixed_size_binary(type_):
        return json.dumps(rng.choice(("AAE=", "AAE=", "AAE=", "", "AAEC", "!")))
    if pa.types.is_string(type_):
        return json.dumps(rng.choice(_TEXTS if rng.random() < 0.3 else _GOOD_TEXTS), ensure_ascii=rng.random() < 0.5)
    if pa.types.is_boolean(type_):
        return rng.choice(("true", "false"))
    if isinstance(type_, pa.JsonType):
        return text_of(rng, None)
    if rng.random() < 0.15:
        return rng.choice(_NUMBERS)
    if pa.types.is_integer(type_) or rng.random() < 0.3:
        return str(rng.randrange(100))
    return (
        str(rng.randrange(100) / 4)
        if pa.types.is_decimal(type_)
        else repr(rng.choice((rng.random(), rng.gauss(0, 1e9))))
    )


def _is_time_of(text: str, type_: pa.DataType) -> bool:
    if pa.types.is_timestamp(type_):
        return len(text) > 12 and (text[-1] == "Z" or text[-6] in "+-") == (type_.tz is not None)
    return (len(text) == 10) == pa.types.is_date(type_) and len(text) < 12


def _entry(rng: Random, name: str, type_: pa.DataType | None, gap: str) -> str:
    return f"{json.dumps(name, ensure_ascii=rng.random() < 0.5)}{gap}:{text_of(rng, type_)}"


def damaged(rng: Random, data: bytes) -> bytes:
    """A value with some bytes changed, taken away or put in, or in another encoding."""
    changed = bytearray(data)
    for _ in range(rng.choice((0, 0, 0, 0, 0, 1, 1, 2, 5))):
        at = rng.randrange(len(changed) + 1)
        what = rng.randrange(4)
        if what == 0:
            del changed[at : at + rng.choice((1, 1, 3, 1000))]
        elif what == 1:
            changed[at:at] = changed[: rng.randrange(len(changed) + 1)]
        else:
            changed[at : at + (what == 2)] = bytes([rng.choice(_BYTES) if rng.random() < 0.8 else rng.randrange(256)])
    if rng.random() < 0.03:
        text = bytes(changed).decode("utf-8", "replace")
        return text.encode(rng.choice(("utf-16", "utf-16-be", "utf-32-le", "utf-8-sig")), "surrogatepass")
    return bytes(changed[:5000])


def is_json(data: bytes) -> bool:
    """Whether Python's json takes a value."""
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True


def json_values(rng: Random) -> str:
    """Decode values that are damaged, encode what came out and decode it again.

    Raises:
        Disagreement: Python's json has it otherwise, or what is decoded again is something else.
    """
    type_ = type_of(rng)
    options = DecodeOptions(
        unknown_fields=rng.choice(("ignore", "ignore", "error")),
        duplicate_keys=rng.choice(("error", "last")),
        null_document=rng.choice(("error", "null")),
        non_finite_numbers=rng.choice(("error", "allow")),
        lone_surrogates=rng.choice(("error", "replace")),
        epoch_unit=rng.choice((None, "s", "ms", "us", "ns")),
    )
    values = [damaged(rng, text_of(rng, type_).encode("utf-8", "surrogatepass")) for _ in range(VALUES)]
    column, bad = JsonColumnDecoder(type_, options).decode(pa.array([*values, None], pa.binary()))
    column.validate(full=True)
    wrong = _wrong(values, {each.row for each in bad})
    again = ""
    encoder = JsonColumnEncoder(type_, EncodeOptions(nulls=rng.choice(("write", "omit")), non_finite_numbers="allow"))
    try:
        encoded = encoder.encode(column)
    except JsonEncodeError as error:
        again = str(error)
    else:
        second, refused = JsonColumnDecoder(
            type_, DecodeOptions(non_finite_numbers="allow", duplicate_keys="last")
        ).decode(encoded)
        again = f"{encoded.to_pylist()} {refused}"
        if not _is_same(second, column) or refused:
            wrong = wrong or f"encoded and decoded again: {encoded.to_pylist()} {refused}"
    said = f"{type_} {options} {values}\n{_shown(column)}\n{bad}\n{again}"
    if wrong:
        raise Disagreement(f"{wrong}\n{said}")
    return said


def _wrong(values: list[bytes], bad: set[int]) -> str:
    for row, value in enumerate(values):
        error = json_syntax_error(value)
        if (error is None) != is_json(value):
            return f"{value!r}: {error}, and Python's json says otherwise"
        if error is not None and row not in bad:
            return f"{value!r} was decoded, and is not JSON: {error}"
    return ""


def _is_same(one: Any, other: Any) -> bool:
    return _shown(one) == _shown(other)


def _shown(column: Any) -> str:
    """A column in words; NaN is NaN, and times may be beyond Python's."""
    shown: str = column.to_string(window=1_000_000, container_window=1_000_000)
    return shown
