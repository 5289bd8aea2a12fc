"""The versions of brokers before 0.10, and the choice of a version."""

import pytest

from kafka.errors import UnsupportedVersionError
from kafka.net import ApiVersions
from kafka.wire.api.heartbeat import HeartbeatRequest
from kafka.wire.api.list_transactions import ListTransactionsRequest
from kafka.wire.index import API_NAMES

GROUPS = ("FindCoordinator", "JoinGroup", "Heartbeat", "LeaveGroup", "SyncGroup", "DescribeGroups", "ListGroups")
BASIC = {"Produce": (0, 0), "Fetch": (0, 0), "ListOffsets": (0, 0), "Metadata": (0, 0)}
OFFSETS = {"OffsetCommit": (0, 0), "OffsetFetch": (0, 0)}
RELEASES = {
    (0, 8, 0): BASIC,
    (0, 8, 1): {**BASIC, **OFFSETS},
    (0, 8, 2): {**BASIC, "OffsetCommit": (0, 1), "OffsetFetch": (0, 1), "FindCoordinator": (0, 0)},
    (0, 9): {
        **BASIC,
        "Produce": (0, 1),
        "Fetch": (0, 1),
        "OffsetCommit": (0, 2),
        "OffsetFetch": (0, 1),
        **dict.fromkeys(GROUPS, (0, 0)),
    },
}


@pytest.mark.parametrize(("release", "served"), RELEASES.items())
def test_an_old_release_supports_its_known_versions(release, served):
    ranges = ApiVersions.of_release(release).items()
    assert {API_NAMES[key]: versions for key, versions in ranges} == served


def test_an_unlisted_release_counts_as_the_previous_one_or_is_rejected():
    assert ApiVersions.of_release((0, 8, 2, 2)).items() == ApiVersions.of_release((0, 8, 2)).items()
    assert ApiVersions.of_release((0, 9, 0, 1)).items() == ApiVersions.of_release((0, 9)).items()
    with pytest.raises(UnsupportedVersionError, match=r"is older than 0\.8, the oldest"):
        ApiVersions.of_release((0, 7))


def test_the_highest_common_version_within_the_bounds_is_chosen():
    key = HeartbeatRequest.API_KEY
    versions = ApiVersions({key: (1, 3)})
    assert key in versions
    assert 99 not in versions
    assert versions.range(key) == (1, 3)
    assert versions.range(99) is None
    assert versions.pick(HeartbeatRequest) == 3
    assert versions.pick(HeartbeatRequest, 0, 2) == 2
    assert versions.pick(HeartbeatRequest, 3) == 3
    assert versions.pick(HeartbeatRequest, 4) is None
    assert versions.pick(HeartbeatRequest, 0, 0) is None
    assert versions.pick(HeartbeatRequest, 0, 1) == 1
    assert ApiVersions({key: (0, 99)}).pick(HeartbeatRequest) == HeartbeatRequest.MAX_VERSION
    assert ApiVersions({}).pick(HeartbeatRequest) is None


@pytest.mark.parametrize(
    ("ranges", "bounds", "said"),
    [
        ((1, 3), (4,), "supports HeartbeatRequest in versions 1 to 3, but this operation requires one from 4 to 4"),
        ((5, 6), (), "in versions 5 to 6, but this operation requires one from 0 to 4"),
        ((3, 4), (1, 2), "in versions 3 to 4, but this operation requires one from 1 to 2"),
        ((5, 6), (1, 99), "in versions 5 to 6, but this operation requires one from 1 to 4"),
    ],
)
def test_the_error_contains_the_versions_of_both_sides(ranges, bounds, said):
    assert (HeartbeatRequest.MIN_VERSION, HeartbeatRequest.MAX_VERSION) == (0, 4)
    versions = ApiVersions({HeartbeatRequest.API_KEY: ranges}, "broker 7")
    with pytest.raises(UnsupportedVersionError, match=f"broker 7 .*{said}$"):
        versions.version_for(HeartbeatRequest, *bounds)


def test_an_unsupported_api_is_named():
    with pytest.raises(UnsupportedVersionError, match=r"broker 7 does not support HeartbeatRequest \(API key 12\)"):
        ApiVersions({}, "broker 7").version_for(HeartbeatRequest)


def test_the_release_that_introduced_an_api_or_a_version_is_named():
    with pytest.raises(UnsupportedVersionError, match=r"\(API key 66\), which requires Kafka 3\.0: the broker"):
        ApiVersions({}).version_for(ListTransactionsRequest)
    with pytest.raises(UnsupportedVersionError, match=r"requires one from 1 to \d+ \(Kafka 3\.8\)$"):
        ApiVersions({66: (0, 0)}).version_for(ListTransactionsRequest, 1)
    with pytest.raises(UnsupportedVersionError, match=r"requires one from 0 to 0$"):
        ApiVersions({66: (1, 1)}).version_for(ListTransactionsRequest, 0, 0)
