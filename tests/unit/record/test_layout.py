"""The layout of batches: the same for compiled and plain modules, and as the structures have it."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest

from kafka.record import layout

DECLARED = Path(layout.__file__).with_suffix(".pxd").read_text()


def declared() -> dict[str, int]:
    """The constants that compiled modules see."""
    found = {name: int(text, 0) for name, text in re.findall(r"^    ([A-Z0-9_]+) = (\w+)$", DECLARED, re.MULTILINE)}
    texts = dict(re.findall(r"#define (\w+) (0x[0-9A-F]+)LL", DECLARED))
    for name, text in re.findall(r'const long long (\w+) "(\w+)"', DECLARED):
        found[name] = int(texts[text], 0)
    return found


def test_compiled_modules_have_the_numbers_of_the_plain_ones() -> None:
    numbers = {name: value for name, value in vars(layout).items() if name.isupper() and isinstance(value, int)}
    assert len(numbers) > 20
    assert declared() == numbers


HEADER_FIELDS = [
    ("LENGTH_AT", 1),
    ("EPOCH_AT", 2),
    ("MAGIC_AT", 3),
    ("CRC_AT", 4),
    ("ATTRIBUTES_AT", 5),
    ("LAST_OFFSET_DELTA_AT", 6),
    ("BASE_TIMESTAMP_AT", 7),
    ("MAX_TIMESTAMP_AT", 8),
    ("PRODUCER_ID_AT", 9),
    ("COUNT_AT", 12),
    ("HEADER_SIZE", 13),
]


@pytest.mark.parametrize(("name", "index"), HEADER_FIELDS)
def test_positions_are_those_of_the_header_structure(name: str, index: int) -> None:
    kinds = layout.HEADER.format.lstrip(">")
    assert getattr(layout, name) == struct.calcsize(">" + kinds[:index])


def test_the_parts_of_a_header_make_it_up() -> None:
    parts = layout.UNCHECKED_FIELDS.format + layout.CHECKED_FIELDS.format.lstrip(">")
    assert parts == layout.HEADER.format
    assert layout.PRODUCER_FIELDS.format.lstrip(">") == layout.HEADER.format.lstrip(">")[9:12]


@pytest.mark.parametrize(
    ("name", "index"), [("LENGTH_AT", 1), ("MESSAGE_CRC_AT", 2), ("MAGIC_AT", 3), ("MESSAGE_TIMESTAMP_AT", 5)]
)
def test_positions_are_those_of_the_message_structure(name: str, index: int) -> None:
    kinds = layout.MESSAGE_HEADER.format.lstrip(">")
    assert getattr(layout, name) == struct.calcsize(">" + kinds[:index])


def test_sizes_of_the_smallest_batches() -> None:
    from .samples import batch

    assert [layout.smallest_size(magic) for magic in (0, 1)] == [len(batch(None, magic=magic)) for magic in (0, 1)]
    assert layout.smallest_size(2) == layout.HEADER_SIZE
