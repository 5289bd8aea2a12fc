"""The layout of batches: the same for compiled and plain modules, and as the structures have it."""

from __future__ import annotations

import re
import struct
from pathlib import Path
from types import ModuleType

import pytest

from kafka.record import layout, read_status


def declared(module: ModuleType) -> dict[str, int]:
    """The constants that compiled modules see."""
    text = Path(str(module.__file__)).with_suffix(".pxd").read_text()
    found = {name: int(value, 0) for name, value in re.findall(r"^    ([A-Z0-9_]+) = (\w+)$", text, re.MULTILINE)}
    texts = dict(re.findall(r"#define (\w+) (0x[0-9A-F]+)LL", text))
    for name, value in re.findall(r'const long long (\w+) "(\w+)"', text):
        found[name] = int(texts[value], 0)
    return found


@pytest.mark.parametrize(("module", "least"), [(layout, 20), (read_status, 7)])
def test_compiled_modules_have_the_numbers_of_the_plain_ones(module: ModuleType, least: int) -> None:
    numbers = {name: value for name, value in vars(module).items() if name.isupper() and isinstance(value, int)}
    assert len(numbers) > least
    assert declared(module) == numbers


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
