"""Recognizing a broker's release by its API versions, compared with the versions that each release introduced."""

from __future__ import annotations

import pytest

from kafka.net import ApiVersions
from kafka.net.broker_versions import release_of
from kafka.wire import message_class

FIRSTS = [
    ((0, 10, 1), "Metadata", 2),
    ((0, 10, 2), "OffsetFetch", 2),
    ((0, 11), "Metadata", 4),
    ((1, 0), "Metadata", 5),
    ((1, 1), "Fetch", 7),
    ((2, 0), "Fetch", 8),
    ((2, 1), "Fetch", 10),
    ((2, 2), "ListOffsets", 5),
    ((2, 3), "Fetch", 11),
    ((2, 4), "Produce", 8),
    ((2, 5), "DescribeAcls", 2),
    ((2, 6), "DescribeClientQuotas", 0),
    ((2, 7), "Fetch", 12),
    ((2, 8), "Produce", 9),
    ((3, 0), "ListOffsets", 7),
    ((3, 1), "Fetch", 13),
    ((3, 2), "JoinGroup", 9),
    ((3, 3), "DescribeAcls", 3),
    ((3, 5), "Fetch", 15),
    ((3, 6), "AddPartitionsToTxn", 4),
    ((3, 7), "Fetch", 16),
    ((3, 8), "Produce", 11),
    ((3, 9), "Fetch", 17),
    ((4, 0), "Produce", 12),
    ((4, 1), "Produce", 13),
]
OLDEST = {18: (0, 0)}


def key(api: str) -> int:
    number: int = message_class(f"{api}Request").API_KEY
    return number


def served_by(releases: list[tuple[tuple[int, ...], str, int]]) -> dict[int, tuple[int, int]]:
    return {**OLDEST, **{key(api): (0, version) for _, api, version in releases}}


@pytest.mark.parametrize("count", range(len(FIRSTS) + 1))
def test_a_broker_with_all_versions_of_a_release_has_that_release(count: int) -> None:
    expected = FIRSTS[count - 1][0] if count else (0, 10, 0)
    assert release_of(ApiVersions(served_by(FIRSTS[:count]))) == expected


@pytest.mark.parametrize(("release", "api", "version"), FIRSTS)
def test_a_release_is_recognized_by_a_version_it_introduced(release: tuple[int, ...], api: str, version: int) -> None:
    assert release_of(ApiVersions({**OLDEST, key(api): (version, version)})) == release
    if version:
        assert release_of(ApiVersions({**OLDEST, key(api): (0, version - 1)})) < release


def test_dropped_old_versions_do_not_matter() -> None:
    assert release_of(ApiVersions({0: (3, 12), 1: (4, 17)})) == (4, 0)
