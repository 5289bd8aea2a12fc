"""Decoding finds what a second, simple decoder finds: on logs of every kind, changed at random and at boundaries."""

from __future__ import annotations

from random import Random

import pytest

from fuzz.targets import boundary, decode


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 1200, 200))
def test_logs_with_one_number_at_its_limit_are_read_as_the_reference_reads_them(first: int) -> None:
    for seed in range(first, first + 200):
        boundary(Random(seed))


@pytest.mark.parametrize("first", range(0, 400, 200))
def test_logs_changed_anywhere_are_read_as_the_reference_reads_them(first: int) -> None:
    for seed in range(first, first + 200):
        decode(Random(seed))
