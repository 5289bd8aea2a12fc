"""The codecs of record batches by number and name, below all layers: options, commands and the broker refer to them.

To add a codec, add a member here, a module with its `Codec` to `kafka.record.codecs`, and a row to `CODECS` there; then
run ``python scripts/options.py``. The fuzz tests decompress with other libraries: `decompressed` in
tests/fuzz/reference.py. A new library is also listed in pyproject.toml, requirements/dev.txt and
`kafka_columnar.doctor`. If the module is to be compiled, see `kafka._variant`.
"""

from __future__ import annotations

from enum import IntEnum


class Compression(IntEnum):
    """Compression codec of a batch: the value of the three lowest bits of its attributes.

    Attributes:
        levels: the valid levels of the topic option ``compression.NAME.level``; None: the codec has no levels.
        default_level: the topic option's default, as in Java's broker.
    """

    levels: range | None
    default_level: int

    def __new__(cls, number: int, levels: range | None = None, default_level: int = 0) -> Compression:
        """Create a member from its number and its levels."""
        member = int.__new__(cls, number)
        member._value_ = number
        member.levels = levels
        member.default_level = default_level
        return member

    NONE = 0
    """Not compressed."""
    GZIP = 1, range(1, 10), -1
    """gzip: small batches, slow."""
    SNAPPY = 2
    """Snappy: fast, larger batches."""
    LZ4 = 3, range(1, 18), 9
    """LZ4: fast, larger batches."""
    ZSTD = 4, range(-131072, 23), 3
    """Zstandard: small batches, fast. Requires Kafka 2.1."""

    @property
    def option(self) -> str:
        """The codec's name as a value of the option ``compression.type``."""
        return self.name.lower()
