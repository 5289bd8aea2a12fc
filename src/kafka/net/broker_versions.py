"""The API versions that a broker supports, the choice of a request's version, and the broker's release."""

from collections.abc import Mapping
from typing import Any, NoReturn

from kafka.errors import UnsupportedVersionError
from kafka.net.api_releases import release_with

_RELEASES: dict[tuple[int, ...], dict[int, tuple[int, int]]] = {
    # Brokers before 0.10 do not support ApiVersions requests. Maps each API key to the lowest and highest version.
    (0, 8, 0): {0: (0, 0), 1: (0, 0), 2: (0, 0), 3: (0, 0)},
    (0, 8, 1): {0: (0, 0), 1: (0, 0), 2: (0, 0), 3: (0, 0), 8: (0, 0), 9: (0, 0)},
    (0, 8, 2): {0: (0, 0), 1: (0, 0), 2: (0, 0), 3: (0, 0), 8: (0, 1), 9: (0, 1), 10: (0, 0)},
    (0, 9): {
        0: (0, 1),
        1: (0, 1),
        2: (0, 0),
        3: (0, 0),
        8: (0, 2),
        9: (0, 1),
        **dict.fromkeys(range(10, 17), (0, 0)),
    },
}
CAN_BE_ASKED_SINCE = (0, 10)


class ApiVersions:
    """The version ranges that one broker supports.

    Arguments:
        ranges: maps each API key to the lowest and highest supported version.
        described_as: the broker's name in error messages.
        features: the finalized feature levels of the cluster, by name (KIP-584).
        features_epoch: increases with every feature change; -1 if the broker does not report it.
    """

    __slots__ = ("_chosen", "_described_as", "_ranges", "features", "features_epoch")

    def __init__(
        self,
        ranges: Mapping[int, tuple[int, int]],
        described_as: str = "the broker",
        features: Mapping[str, int] | None = None,
        features_epoch: int = -1,
    ) -> None:
        self._ranges = dict(ranges)
        self._described_as = described_as
        self.features = dict(features or {})
        self.features_epoch = features_epoch
        self._chosen: dict[Any, int | None] = {}

    @classmethod
    def of_release(cls, api_version: tuple[int, ...], described_as: str = "the broker") -> "ApiVersions":
        """Return the versions of a broker before 0.10. Raises `UnsupportedVersionError` for releases before 0.8."""
        known = [release for release in _RELEASES if release <= api_version]
        if not known:
            raise UnsupportedVersionError(f"api_version={api_version} is older than 0.8, the oldest supported release")
        return cls(_RELEASES[max(known)], described_as)

    def range(self, api_key: int) -> tuple[int, int] | None:
        """Return the lowest and highest version that the broker supports, or None if it does not support the API."""
        return self._ranges.get(api_key)

    def __contains__(self, api_key: int) -> bool:
        return api_key in self._ranges

    def items(self) -> list[tuple[int, tuple[int, int]]]:
        """Return all API keys in order, with their lowest and highest version."""
        return sorted(self._ranges.items())

    def pick(self, request: Any, min_version: int = 0, max_version: int | None = None) -> int | None:
        """Return the highest version of a request class, within the bounds, that both sides support, or None."""
        asked = (request, min_version, max_version)
        try:
            return self._chosen[asked]
        except KeyError:
            version = self._chosen[asked] = self._pick(*asked)
            return version

    def version_for(self, request: Any, min_version: int = 0, max_version: int | None = None) -> int:
        """Like `pick`, but raise `UnsupportedVersionError`, naming both sides' versions, instead of returning None."""
        version = self._chosen.get((request, min_version, max_version))
        if version is None:  # not chosen yet
            version = self.pick(request, min_version, max_version)
        return version if version is not None else self._refuse(request, min_version, max_version)

    def _pick(self, request: Any, min_version: int, max_version: int | None) -> int | None:
        offered = self._ranges.get(request.API_KEY)
        if offered is None:
            return None
        low = max(offered[0], request.MIN_VERSION, min_version)
        high = min(offered[1], request.MAX_VERSION)
        if max_version is not None:
            high = min(high, max_version)
        return high if low <= high else None

    def _refuse(self, request: Any, min_version: int, max_version: int | None) -> NoReturn:
        offered = self._ranges.get(request.API_KEY)
        if offered is None:
            release = release_with(request.API_KEY)
            since = "" if release is None else f", which requires Kafka {release}"
            raise UnsupportedVersionError(
                f"{self._described_as} does not support {request.NAME} (API key {request.API_KEY}){since}: the broker "
                "is older, or the API is disabled there"
            )
        low = max(request.MIN_VERSION, min_version)
        high = request.MAX_VERSION if max_version is None else min(request.MAX_VERSION, max_version)
        release = release_with(request.API_KEY, low) if low > offered[1] else None
        since = "" if release is None else f" (Kafka {release})"
        raise UnsupportedVersionError(
            f"{self._described_as} supports {request.NAME} in versions {offered[0]} to {offered[1]}, but this "
            f"operation requires one from {low} to {high}{since}"
        )


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
"""Releases, each with an API key and a version that it was the first to support."""


_BEFORE_THEY_COULD_BE_ASKED: tuple[tuple[tuple[int, ...], int], ...] = (((0, 9), 16), ((0, 8, 2), 10), ((0, 8, 1), 8))
"""Releases before 0.10, each with an API key that it was the first to support."""
_API_VERSIONS = 18


def release_of(offered: ApiVersions) -> tuple[int, ...]:
    """Return the latest release whose API versions a broker supports."""
    for release, api_key, version in _SINCE:
        served = offered.range(api_key)
        if served is not None and served[0] <= version <= served[1]:
            return release
    if _API_VERSIONS in offered:
        return (0, 10, 0)
    return next((each for each, api_key in _BEFORE_THEY_COULD_BE_ASKED if api_key in offered), (0, 8, 0))
