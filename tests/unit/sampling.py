"""Samples of what `make test-exhaustive` tries in full. A fixed stride chooses them: they are the same each time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

EVERY = [pytest.param(1, marks=pytest.mark.exhaustive), 5]
"""Values of a parameter `every` of tests: for all moments, names or the like, and for a sample of them."""


def sampled(cases: Iterable[Any], every: int) -> list[Any]:
    """Values for `parametrize`: the first, and each ``every``-th one after it; the rest is marked exhaustive.

    Arguments:
        cases: each a value, or a tuple of several.
        every: the stride.
    """
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=[pytest.mark.exhaustive] * (at % every > 0))
        for at, case in enumerate(cases)
    ]
