"""Numbers on the axes of charts."""

from __future__ import annotations

import pytest

from kafka.ui.page_elements import short

pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (999.4, "999"), (999.5, "1k"), (-1_234, "-1.23k"), (999_949, "1M"), (999_400, "999k"), (2.5e9, "2.5G")],
)
def test_a_number_has_three_digits_and_a_unit(value: float, text: str) -> None:
    assert short(value) == text
