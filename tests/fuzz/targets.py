"""What is done with bytes, and what comes out of it, in words that both variants must agree on."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from dataclasses import asdict
from random import Random
from typing import Any

from fuzz import Disagreement, boundaries, reference
from fuzz.avro import avro
from fuzz.inputs import batches, changed, log, messages, with_right_sums
from fuzz.json_values import json_values
from fuzz.reference import LARGEST, Answer, Question, Record, Undecided
from kafka.errors import KafkaError
from kafka.record import (
    ArrowRows,
    BatchBuilder,
    BatchDecoder,
    Columns,
    Compression,
    batch_headers,
    check_batch,
    validate_batch,
    whole_batches,
)
from kafka.record.codecs import CodecError, decompress
from kafka.record.record_headers import encode_headers
from kafka.wire import message_class

LIMIT = 1 << 20
"""How many bytes a batch may have decompressed: bombs are to be refused, not to be run."""
EXPECTED = (KafkaError, CodecError)


def decode(rng: Random) -> str:
    """Decode a log that was changed somewhere, with all that a consumer can ask for."""
    data = changed(rng, log(rng))
    if rng.random() < 0.7:
        data = with_right_sums(data)
    question = Question(
        start_offset=rng.choice((0, 0, 0, 2, 2**31, 2**62)),
        stop_offset=rng.choice((LARGEST, LARGEST, 4, 2**62, 2**63 - 1)),
        check_crcs=rng.random() < 0.5,
        read_committed=rng.random() < 0.5,
        aborted_transactions=rng.choice(([], [(7, 0)], [(7, 3), (-1, 0)])),
    )
    return f"{whole_batches(memoryview(data))}\n{_decoded(rng, data, question, intact=False)}"


def boundary(rng: Random) -> str:
    """Decode a log in which one number is at its limit."""
    data, edges = boundaries.log(rng)
    near = [0, 0, *(edge + step for edge in edges for step in (-1, 0, 1))]
    question = Question(
        start_offset=max(rng.choice(near), 0),
        stop_offset=rng.choice((LARGEST, LARGEST, rng.choice(near))),
        check_crcs=rng.random() < 0.7,
        read_committed=rng.random() < 0.3,
        aborted_transactions=rng.choice(([], [(7, edges[0])], [(7, edges[-1]), (-1, 0)])),
    )
    return _decoded(rng, data, question, intact=True)


def _decoded(rng: Random, data: bytes, question: Question, intact: bool) -> str:
    """Decode part by part, and compare with the reference.

    Raises:
        Disagreement: it finds something else.
    """
    decoder = BatchDecoder(data, topic="t", partition=1, max_decompressed_size=LIMIT, **asdict(question))
    size = rng.choice((1, 200, 1 << 30))
    said: list[str] = []
    found = Answer([], False, question.start_offset)
    while not decoder.finished and not found.damaged:
        columns, damage = decoder.part(size)
        said += (_columns(columns), repr(damage))
        records = [(one.offset, one.timestamp, one.key, one.value, one.headers) for one in columns.to_records()]
        found = Answer(found.records + records, damage is not None, columns.next_offset)
    with contextlib.suppress(Undecided):
        _compare(data, found, reference.decode(data, question, intact), f"{question}\n{said[-1]}")
    return "\n".join(said)


def _compare(data: bytes, found: Answer, expected: Answer, beside: str = "") -> None:
    """Raise `Disagreement` if something else is found than is expected."""
    if found != expected:
        raise Disagreement(f"{data.hex()}\nexpected {expected}\nfound    {found}\n{beside}")


def _columns(columns: Columns) -> str:
    """All that columns hold, through records and through Arrow."""
    arrow = columns.to_arrow()
    arrow.validate(full=True)
    seen = [tuple(record) for record in columns.to_records()]
    return f"{seen} {columns.runs()} {columns.next_offset} {columns.bytes_consumed} {columns.leader_epoch}"


def headers(rng: Random) -> str:
    """Read headers as a log does, and validate each batch as a broker does."""
    data = with_right_sums(changed(rng, log(rng)))
    said = []
    for header in batch_headers(data):
        said.append(repr(header))
        try:
            check_batch(data, header)
            said.append(repr(validate_batch(data, header, max_decompressed_size=LIMIT)))
        except EXPECTED as error:
            said.append(repr(error))
    return "\n".join(said)


def codec(rng: Random) -> str:
    """Decompress what is no longer what it was."""
    batch = rng.choice(batches())
    kind = rng.choice([kind for kind in Compression if kind])
    return repr(bytes(decompress(kind, memoryview(changed(rng, batch[61:])), LIMIT)))


def encode(rng: Random) -> str:
    """Build a batch; the reference finds what was put in."""
    magic = rng.choice((0, 1, 2, 2, 2))
    builder = BatchBuilder(magic, rng.choice((Compression.NONE, Compression.LZ4)), size_limit=rng.choice((100, 5000)))
    records: list[Record] = []
    for _ in range(rng.randrange(12)):
        key, value = (rng.choice((None, b"", rng.randbytes(rng.randrange(200)))) for _ in range(2))
        pairs = [("k" * rng.randrange(4), rng.choice((None, b"", b"v" * 130))) for _ in range(rng.choice((0, 0, 2)))]
        when = rng.choice((-1, 0, 1_700_000_000_000, 2**61, rng.randrange(2**61)))
        if magic == 2:
            builder.append_if_room(when, key, value, encode_headers(pairs)[0] if pairs else None)
        else:
            builder.append(when, key, value)
        if builder.count > len(records):
            records.append((len(records), when if magic else -1, key, value, pairs if magic == 2 else []))
    if not records:
        return "empty"
    base = rng.choice((0, 2**40))
    data = builder.build(base_offset=base, producer_id=7, producer_epoch=1, base_sequence=2**31 - 1)
    expected = Answer([(base + index, *rest) for index, *rest in records], False, base + len(records))
    _compare(data, reference.decode(data, Question()), expected)
    (columns, damage) = BatchDecoder(data).part(1 << 30)
    return f"{data.hex() if magic == 2 else len(columns)} {_columns(columns)} {damage!r}"


def arrow(rng: Random) -> str:
    """Encode rows of an Arrow table whose offsets may be anything."""
    import pyarrow as pa

    count = rng.randrange(1, 20)
    ends = bytearray(8 * (count + 1))
    positions = memoryview(ends).cast("q")
    for row in range(count + 1):
        positions[row] = 5 * row
    if rng.random() < 0.7:
        positions[rng.randrange(count + 1)] = rng.choice((-1, -(2**63), 2**63 - 1, 2**31, 5 * count + 1, 0))
    column = pa.Array.from_buffers(pa.large_binary(), count, [None, pa.py_buffer(ends), pa.py_buffer(bytes(5 * count))])
    table: dict[str, Any] = {"value": [b"v"] * count}
    what = rng.randrange(3)
    if what < 2:
        table["key" if what else "value"] = column
    else:
        pairs = pa.StructArray.from_arrays([column, column], ["value", "key"])
        lists = pa.ListArray.from_arrays(pa.array(range(count + 1), pa.int32()), pairs)
        table["headers"] = lists
    rows = ArrowRows(pa.table(table))
    numbers = [rng.randrange(-1, count + 1) if rng.random() < 0.1 else row for row in range(count)]
    made = rows.encode(numbers, max_batch_bytes=rng.choice((100, 1 << 20)))
    return repr([(bytes(one.data), one.count, one.first, one.max_timestamp) for one in made])


def wire(rng: Random) -> str:
    """Read a message of the protocol; what can be read can be written."""
    release, name, version, data = rng.choice(messages())
    kind = message_class(name, release="3.9" if release == "3.9.1" else None)
    message = kind.decode(changed(rng, data), version)
    return f"{json.dumps(message.to_dict(version), default=repr)} {message.encode(version).hex()}"


TARGETS: list[Callable[[Random], str]] = [
    boundary,
    boundary,
    boundary,
    decode,
    decode,
    headers,
    codec,
    encode,
    arrow,
    wire,
    wire,
]
"""One of them is drawn for each number; those that stand here several times are drawn more often."""
FORMATS: list[Callable[[Random], str]] = [avro, json_values]
"""Likewise, for each sixteenth number; an input has many values of a format."""
MAY_REFUSE = (encode, arrow)
"""Whose arguments are a program's own, which it may be told with a `ValueError`."""


def run(number: int, only: str = "") -> tuple[str, str]:
    """What one input does: the target's name, and what came out.

    Args:
        number: seeds the input.
        only: the name of the target, which is drawn if there is none.

    Raises:
        Disagreement: not what the reference finds.
    """
    rng = Random(number)
    targets = FORMATS if number % 16 == 15 else TARGETS
    target = next(each for each in (*TARGETS, *FORMATS) if each.__name__ == only) if only else rng.choice(targets)
    expected = (*EXPECTED, ValueError) if target in MAY_REFUSE else EXPECTED
    try:
        return target.__name__, target(rng)
    except expected as error:
        return target.__name__, f"{type(error).__name__}: {error}"
