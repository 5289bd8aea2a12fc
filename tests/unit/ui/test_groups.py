"""Members and lags of groups of each type, and how their states are shown."""

import dataclasses
from typing import Any

import pytest

from kafka.errors import GroupAuthorizationFailedError
from kafka.structs import TopicPartition
from kafka.ui.group_members import Member, MemberCounts, describe_members
from kafka.ui.history import History
from kafka.ui.lag_times import Behind, by_history, longest
from kafka.ui.snapshot import BrokerState, GroupState, Snapshot
from kafka.ui.states import group_state, level_of
from unit.ui.ui_support import Pages, text_of

pytestmark = pytest.mark.once

TP = TopicPartition("t", 0)
STREAMS = {
    "topology": {
        "subtopologies": [
            {"subtopology_id": "0", "source_topics": ["in"], "repartition_source_topics": [{"name": "again"}]},
            {"subtopology_id": "1", "source_topics": ["other"], "repartition_source_topics": None},
        ]
    },
    "members": [
        {
            "member_id": "m",
            "instance_id": "fixed",
            "client_id": "c",
            "client_host": "/10.0.0.1",
            "assignment": {"active_tasks": [{"subtopology_id": "0", "partitions": [0, 1]}]},
        }
    ],
}
CONSUMER = {
    "members": [
        {
            "member_id": "m",
            "client_id": "c",
            "client_host": "/h",
            "assignment": {"topic_partitions": [{"topic_name": "t", "partitions": [3]}]},
        },
        {"member_id": "idle", "client_id": None, "client_host": None, "assignment": None},
        {"member_id": "own protocol", "client_id": "c", "client_host": "/h", "member_assignment": b"bytes"},
    ]
}


@pytest.mark.parametrize(
    ("kind", "described", "members"),
    [
        (
            "streams",
            STREAMS,
            [Member("fixed", "c", "10.0.0.1", tuple(TopicPartition(t, n) for t in ("in", "again") for n in (0, 1)))],
        ),
        (
            "consumer",
            CONSUMER,
            [
                Member("m", "c", "h", (TopicPartition("t", 3),)),
                Member("idle", "", "", ()),
                Member("own protocol", "c", "h", ()),
            ],
        ),
    ],
)
async def test_members_of_any_protocol_have_partitions(
    pages: Pages, monkeypatch: pytest.MonkeyPatch, kind: str, described: dict[str, Any], members: list[Member]
) -> None:
    async def describe(names: list[str]) -> dict[str, Any]:
        return {names[0]: described}

    call = "describe_streams_groups" if kind == "streams" else "describe_groups"
    monkeypatch.setattr(pages.ui.admin, call, describe)
    assert await describe_members(pages.ui.admin, GroupState("g", kind, "Stable")) == members


async def test_members_are_counted_once_for_each_snapshot_and_only_of_groups_that_have_some(
    pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []

    async def describe(names: list[str]) -> dict[str, Any]:
        asked.append(names)
        return {name: {"members": [{}] * 3, "error": "no" if name == "denied" else None} for name in names}

    async def refused(names: list[str]) -> dict[str, Any]:
        raise GroupAuthorizationFailedError("not yours")

    monkeypatch.setattr(pages.ui.admin, "describe_groups", describe)
    monkeypatch.setattr(pages.ui.admin, "describe_share_groups", refused)
    counts = MemberCounts(pages.ui.admin, 60.0)
    groups = [
        GroupState("busy", "classic", "Stable"),
        GroupState("new", "consumer", "Assigning"),
        GroupState("denied", "classic", "Stable"),
        GroupState("shared", "share", "Stable"),
        GroupState("left", "classic", "Empty"),
    ]
    now = Snapshot(1.0, "c", 1, {}, {}, {})
    for _ in range(2):
        assert await counts.of(groups[:2] + groups[4:], now) == {"busy": 3, "new": 3, "left": 0}
    assert await counts.of(groups, now) == {"busy": 3, "new": 3, "left": 0}
    assert asked == [["busy", "new"], ["denied"]]
    await counts.of(groups[:1], dataclasses.replace(now, time=2.0))
    assert asked[2:] == [["busy"]]
    await counts.close()


@pytest.mark.parametrize(
    ("state", "lag", "level", "word"),
    [
        ("Stable", 9, "good", "Stable"),
        ("Empty", 0, "off", "Empty"),
        ("Empty", 28_120, "bad", "Empty, lagging"),
        ("EMPTY", 1, "bad", "Empty, lagging"),
        ("Dead", 0, "bad", "Dead"),
        ("PreparingRebalance", 0, "warn", "Rebalancing"),
        ("NotReady", 0, "warn", "Not ready"),
        ("", 0, "off", "Unknown"),
    ],
)
def test_a_state_is_a_colour_and_a_word(state: str, lag: int, level: str, word: str) -> None:
    group = GroupState("g", "classic", state, {TP: 0}, {TP: lag})
    assert level_of(group) == level
    assert text_of(f"</header>{group_state(group)}") == word


def test_an_offset_beyond_the_end_has_no_lag_in_time() -> None:
    group = GroupState("g", "classic", "Empty", {TP: 500}, {TP: 0}, {TP: 97})
    assert group.beyond_end == [TP]
    assert by_history(History(), group, TP).seconds is None
    assert not dataclasses.replace(group, committed={TP: 97}).beyond_end
    assert not GroupState("g", "classic", "Empty", {TP: 500}, {TP: None}).beyond_end  # the end is unknown


def test_the_lag_in_time_is_known_as_far_as_the_history_reaches() -> None:
    history, before = History(), None
    group = GroupState("g", "classic", "Stable", {TP: 30}, {TP: 10}, {TP: 40})
    assert by_history(history, group, TP).text() == "\N{EN DASH}"
    for second, end in enumerate((25, 30, 35, 40)):
        now = Snapshot(
            second * 60.0, "c", 1, {1: BrokerState(1, "h:1")}, {}, {"g": dataclasses.replace(group, ends={TP: end})}
        )
        history.add(before, now)
        before = now
    assert by_history(history, group, TP) == Behind(120.0)
    assert longest(history, group).text() == "2 min"
    older = dataclasses.replace(group, committed={TP: 3}, lags={TP: 37})
    assert by_history(history, older, TP) == Behind(180.0, is_minimum=True)
    assert longest(history, older).text() == "over 3 min"
    assert by_history(history, dataclasses.replace(group, lags={TP: 0}), TP).text() == "0 s"
    assert by_history(history, dataclasses.replace(group, lags={TP: None}), TP).seconds is None
    assert longest(history, GroupState("g", "classic", "Empty")).seconds is None
