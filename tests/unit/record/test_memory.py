"""Memory that is used again only when nobody looks at it any more."""

from __future__ import annotations

import pytest

from kafka.record.memory import allocate, cut

LARGE = 100_000


@pytest.mark.parametrize("size", [0, 1, 1000, LARGE, 3_000_000])
def test_a_view_has_the_size_asked_for_and_is_writable(size: int) -> None:
    view = allocate(size)
    view[:] = b"x" * size
    assert (len(view), bytes(view)) == (size, b"x" * size)


def test_memory_with_views_is_not_reused() -> None:
    parts = []
    for number in range(200):
        view = allocate(LARGE + number)
        view[:] = bytes((number,)) * len(view)
        parts.append(view[number : number + 50])
        del view
    assert all(bytes(part) == bytes((number,)) * 50 for number, part in enumerate(parts))


@pytest.mark.parametrize(
    ("size", "used"), [(LARGE, LARGE), (LARGE, LARGE - 1), (LARGE, 10), (LARGE, 0), (100, 3), (1, 0)]
)
def test_a_cut_view_keeps_its_beginning(size: int, used: int) -> None:
    view = allocate(size)
    view[:] = (b"0123456789" * (size // 10 + 1))[:size]
    assert bytes(cut(view, used)) == (b"0123456789" * (size // 10 + 1))[:used]


def test_a_small_cut_does_not_keep_large_memory() -> None:
    kept = [cut(allocate(1 << 20), 100) for _ in range(10)]
    assert all(len(memoryview(view.obj)) < LARGE for view in kept)


@pytest.mark.parametrize(
    ("size", "used", "is_copied"),
    [
        (64 * 1024, 1, True),
        (64 * 1024, 32 * 1024 - 1, True),
        (64 * 1024, 32 * 1024, False),
        (64 * 1024, 64 * 1024, False),
        (64 * 1024 - 1, 1, False),
        (1000, 0, False),
    ],
)
def test_only_cuts_below_half_of_large_memory_are_copied(size: int, used: int, is_copied: bool) -> None:
    view = allocate(size)
    smaller = cut(view, used)
    assert len(smaller) == used
    assert (smaller.obj is not view.obj) is is_copied
