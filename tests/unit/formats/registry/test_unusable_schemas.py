"""How long unusable schemas are remembered, and the detection of too many."""

from __future__ import annotations

import pytest

from kafka.formats.registry.schema_columns import UnusableSchemas

pytestmark = pytest.mark.once


def test_causes_expire_after_their_first_use() -> None:
    now = 0.0
    unusable = UnusableSchemas(lambda: now)
    for number in (1, 2, 3):
        unusable.add(number, f"why {number}")
    now = 100.0  # the time it took to look up many more
    unusable.forget_old()
    assert unusable.cause(2) == "why 2"
    now = 103.0
    assert unusable.cause(1) == "why 1"
    now = 104.9
    unusable.forget_old()
    assert [number in unusable for number in (1, 2, 3)] == [True, True, True]
    assert unusable.cause(2) == "why 2"
    now = 105.0
    unusable.forget_old()
    assert [number in unusable for number in (1, 2, 3)] == [True, False, True]
    now = 108.0
    unusable.forget_old()
    assert [number in unusable for number in (1, 2, 3)] == [False, False, True]
    with pytest.raises(KeyError):
        unusable.cause(2)


def test_more_than_a_hundred_unused_causes_are_reported_once() -> None:
    unusable = UnusableSchemas()
    assert not any(unusable.add(number, "why") for number in range(100))
    for number in range(100):
        unusable.cause(number)
    assert [unusable.add(number, "why") for number in range(200, 302)] == [False] * 100 + [True, False]
    for number in range(200, 302):
        unusable.cause(number)
    assert not any(unusable.add(number, "why") for number in range(400, 600))
