"""Which release of Kafka a broker is, by the versions of requests that it has."""

from __future__ import annotations

from kafka.net.versions import ApiVersions

_SINCE: tuple[tuple[tuple[int, ...], int, int], ...] = (
    ((4, 1), 0, 13),
    ((4, 0), 0, 12),
    ((3, 9), 1, 17),
    ((3, 8), 0, 11),
    ((3, 7), 1, 16),
    ((3, 6), 24, 4),
    ((3, 5), 1, 15),
    ((3, 3), 29, 3),
    ((3, 2), 11, 9),
    ((3, 1), 1, 13),
    ((3, 0), 2, 7),
    ((2, 8), 0, 9),
    ((2, 7), 1, 12),
    ((2, 6), 48, 0),
    ((2, 5), 29, 2),
    ((2, 4), 0, 8),
    ((2, 3), 1, 11),
    ((2, 2), 2, 5),
    ((2, 1), 1, 10),
    ((2, 0), 1, 8),
    ((1, 1), 1, 7),
    ((1, 0), 3, 5),
    ((0, 11), 3, 4),
    ((0, 10, 2), 9, 2),
    ((0, 10, 1), 3, 2),
)
"""A release, and a version of an API that it was the first to have."""


_BEFORE_THEY_COULD_BE_ASKED: tuple[tuple[tuple[int, ...], int], ...] = (((0, 9), 16), ((0, 8, 2), 10), ((0, 8, 1), 8))
"""Such a release, and an API that it was the first to have."""
_API_VERSIONS = 18


def release_of(offered: ApiVersions) -> tuple[int, ...]:
    """The latest release whose requests a broker has."""
    for release, api_key, version in _SINCE:
        served = offered.range(api_key)
        if served is not None and served[0] <= version <= served[1]:
            return release
    if _API_VERSIONS in offered:
        return (0, 10, 0)
    return next((each for each, api_key in _BEFORE_THEY_COULD_BE_ASKED if api_key in offered), (0, 8, 0))
