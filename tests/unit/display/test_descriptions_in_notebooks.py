"""Topics and groups described by an admin client are shown in a notebook as a table."""

from __future__ import annotations

import json
from typing import Any

from kafka.admin.group_descriptions import DescribedGroups, GroupDescriptions, MemberAssignment
from kafka.admin.groups import ListedGroups
from kafka.admin.results import Result, TopicDescriptions
from kafka.structs import GroupInformation, MemberInformation
from unit.display.shown import SCRIPT, Shown


def topic(name: str | None, *partitions: dict[str, Any], error_code: int = 0) -> dict[str, Any]:
    return {
        "name": name,
        "topic_id": "an-id",
        "is_internal": False,
        "error_code": error_code,
        "partitions": list(partitions),
    }


def partition(number: int, leader: int, isr: list[int]) -> dict[str, Any]:
    return {"partition": number, "leader": leader, "replicas": [1, 2], "isr": isr, "offline_replicas": None}


def group(assignment: object, member_id: str = "m") -> GroupInformation:
    return GroupInformation(
        0, SCRIPT, "Stable", "consumer", "range", [MemberInformation(member_id, "c", "/h", None, assignment)]
    )


def test_topics_are_shown_with_their_problems() -> None:
    described = TopicDescriptions(
        [topic(SCRIPT, partition(0, 1, [1, 2]), partition(1, -1, [2])), topic(None, error_code=3)]
    )
    html = described._repr_html_()
    assert "<script" not in html
    shown = Shown(html)
    assert shown.texts[0] == "2 topic(s)"
    assert shown.rows[1:] == [[SCRIPT, "2", "2", "1", "1", "", ""], ["an-id", "0", "0", "0", "0", "", "3"]]


def test_a_single_topic_has_its_partitions_below() -> None:
    shown = Shown(TopicDescriptions([topic("t", partition(0, 1, [1]))])._repr_html_())
    assert shown.rows[-1] == ["0", "1", "1, 2", "1", ""]


def test_topics_are_still_a_list() -> None:
    described = TopicDescriptions([topic("t")])
    assert described == [topic("t")]
    assert json.loads(json.dumps(described)) == [topic("t")]
    assert repr(described) == repr([topic("t")])


def test_a_group_has_its_members_below() -> None:
    described = group(MemberAssignment(0, [(SCRIPT, [0, 1]), ("u", [2])], None))
    for html in (described._repr_html_(), DescribedGroups([described])._repr_html_()):
        assert "<script" not in html
        shown = Shown(html)
        assert shown.rows[1] == [SCRIPT, "Stable", "consumer", "range", "1", ""]
        assert shown.rows[3] == ["m", "c", "/h", f"{SCRIPT}: 0, 1; u: 2"]


def test_an_assignment_of_another_protocol_is_shown_unchanged() -> None:
    for assignment, shown in ((b"<b>", "b'<b>'"), (b"", ""), (None, ""), (Result(a="<b>"), ""), ("<b>", "'<b>'")):
        assert Shown(group(assignment)._repr_html_()).rows[3][3] == shown


def test_groups_of_each_kind() -> None:
    classic = Result(
        error=None,
        group_id=SCRIPT,
        group_state="Stable",
        protocol_type="consumer",
        protocol_data="range",
        members=[
            Result(
                member_id=SCRIPT,
                client_id=SCRIPT,
                client_host=SCRIPT,
                member_assignment=Result(assigned_partitions=[Result(topic=SCRIPT, partitions=[0])]),
            )
        ],
    )
    html = GroupDescriptions({SCRIPT: classic})._repr_html_()
    assert "<script" not in html
    assert Shown(html).rows[3] == [SCRIPT, SCRIPT, SCRIPT, f"{SCRIPT}: 0"]
    share = Result(
        group_id="s",
        group_state="Stable",
        assignor_name="simple",
        members=[
            Result(
                member_id="m",
                client_id="c",
                client_host="/h",
                assignment=Result(topic_partitions=[Result(topic_name="t", partitions=[3])]),
            )
        ],
    )
    failed = Result(group_id="f", error=SCRIPT)
    assert Shown(GroupDescriptions(s=share)._repr_html_()).rows[3][3] == "t: 3"
    shown = Shown(GroupDescriptions(s=share, f=failed)._repr_html_())
    assert shown.rows[1:] == [["s", "Stable", "", "simple", "1", ""], ["f", "", "", "", "", SCRIPT]]


def test_listed_groups_are_shown() -> None:
    listed = [{"group_id": f"g{at}", "protocol_type": "consumer", "group_state": "Empty"} for at in range(25)]
    shown = Shown(ListedGroups(listed, {})._repr_html_())
    assert shown.rows[1] == ["g0", "Empty", "consumer", "", "", ""]
    assert shown.texts[-1] == "and 15 more"
