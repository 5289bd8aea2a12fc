"""scripts/draft_messages.py: what it finds in the facts of a release, and what it drafts."""

from __future__ import annotations

import importlib.util
import json
import sys
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytestmark = pytest.mark.once

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "draft_messages.py"

HEARTBEAT: dict[str, Any] = {
    "apiKey": 12,
    "type": "request",
    "name": "HeartbeatRequest",
    "validVersions": "0-4",
    "flexibleVersions": "4+",
    "fields": [
        {"name": "GroupId", "type": "string", "versions": "0+"},
        {"name": "GenerationId", "type": "int32", "versions": "0+"},
        {"name": "MemberId", "type": "string", "versions": "0+"},
        {"name": "GroupInstanceId", "type": "string", "versions": "3+", "nullableVersions": "3+", "default": "null"},
    ],
}


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("draft_messages", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["draft_messages"] = module
    spec.loader.exec_module(module)
    return module


def drafted(tool: ModuleType, *facts: dict[str, Any]) -> str:
    return "\n".join(tool.drafts(map(tool.message_facts, facts)))


def changed(**changes: Any) -> dict[str, Any]:
    return {**HEARTBEAT, **changes}


def with_field(number: int, **changes: Any) -> dict[str, Any]:
    fields = [dict(one) for one in HEARTBEAT["fields"]]
    fields[number].update(changes)
    return changed(fields=fields)


def test_what_is_declared_as_it_is_drafts_nothing(tool: ModuleType) -> None:
    assert drafted(tool, HEARTBEAT) == ""


def test_versions_that_a_release_no_longer_has_are_left_alone(tool: ModuleType) -> None:
    assert drafted(tool, changed(validVersions="2-4")) == ""


def test_new_versions_and_fields_are_drafted_in_their_place(tool: ModuleType) -> None:
    fields = list(HEARTBEAT["fields"])
    fields.insert(1, {"name": "RackIds", "type": "[]string", "versions": "5+", "nullableVersions": "5+"})
    fields.append({"name": "Lag", "type": "int64", "versions": "5+", "taggedVersions": "5+", "tag": 2, "default": "-1"})
    assert drafted(tool, changed(validVersions="0-5", fields=fields)).splitlines() == [
        "# HeartbeatRequest",
        "versions=(0, 5)  # was 4",
        "HeartbeatRequest, after group_id:",
        "    rack_ids: list[str] | None = array(string, since=5, nullable=True)",
        "HeartbeatRequest, after group_instance_id:",
        "    lag: int = int64(since=5, tag=2, default=-1)",
    ]


@pytest.mark.parametrize(
    ("number", "changes", "said"),
    [
        (1, {"type": "int64"}, "declared as int32"),
        (1, {"type": "[]int32"}, "declared as int32"),
        (0, {"versions": "1+"}, "they are [1, 2, 3, 4]"),
        (0, {"nullableVersions": "4+"}, "may be null in the versions [4]"),
        (3, {"taggedVersions": "3+", "tag": 0}, "declared with the tag -1"),
        (2, {"name": "MemberName", "type": "bytes"}, "HeartbeatRequest.member_id is not in the release"),
    ],
)
def test_what_is_declared_otherwise_is_said(tool: ModuleType, number: int, changes: dict[str, Any], said: str) -> None:
    assert said in drafted(tool, with_field(number, **changes))


def test_a_new_api_is_drafted_whole_and_can_be_run(tool: ModuleType) -> None:
    point = {
        "name": "Points",
        "type": "[]Point",
        "versions": "0+",
        "fields": [
            {"name": "Name", "type": "string", "versions": "0+", "nullableVersions": "1+", "default": "null"},
            {"name": "Limit", "type": "int32", "versions": "1+", "default": "2147483647", "ignorable": True},
            {"name": "Data", "type": "bytes", "versions": "0+"},
            {"name": "Open", "type": "bool", "versions": "0-0", "default": "true"},
        ],
    }
    request = {
        "apiKey": 999,
        "type": "request",
        "name": "DrawRequest",
        "validVersions": "0-1",
        "flexibleVersions": "1+",
        "fields": [point],
    }
    response = {**request, "type": "response", "name": "DrawResponse", "fields": []}
    text = drafted(tool, request, response)
    names: dict[str, Any] = {}
    head = "from kafka.wire.fields import *\nfrom kafka.wire.message import *\nfrom kafka.wire.structs import Struct\n"
    exec(head + text, names)
    made = names["DrawRequest"](points=[names["Point"](name=None, limit=7, data=b"x")])
    assert names["DrawRequest"].decode(made.encode(1), 1) == made
    assert names["DrawResponse"].REQUEST is names["DrawRequest"]
    assert (names["Point"]().limit, names["Point"]().open) == (2**31 - 1, True)


def test_facts_are_read_from_a_jar_without_their_comments(tool: ModuleType, tmp_path: Path) -> None:
    text = "// a licence\n" + json.dumps({**HEARTBEAT, "about": "see // there"}, indent=1).replace(
        '"versions"', ' // more\n "versions"'
    )
    jar = tmp_path / "clients.jar"
    with zipfile.ZipFile(jar, "w") as out:
        out.writestr("common/message/HeartbeatRequest.json", text)
        out.writestr("common/message/Unrelated.class", b"\xca\xfe")
        out.writestr("common/message/Log.json", json.dumps({**HEARTBEAT, "type": "metadata", "name": "OfALog"}))
    (facts,) = tool.read_facts(jar)
    assert (facts.name, facts.last, len(facts.fields)) == ("HeartbeatRequest", 4, 4)


def test_the_command_says_whether_there_is_something_to_do(
    tool: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "facts.jsonl"
    path.write_text(json.dumps(HEARTBEAT) + "\n")
    assert tool.main([str(path)]) == 0
    path.write_text(json.dumps(changed(validVersions="0-5")) + "\n")
    assert tool.main([str(path)]) == 1
    assert "versions=(0, 5)" in capsys.readouterr().out


def test_a_field_with_another_name_is_to_be_renamed(tool: ModuleType) -> None:
    text = drafted(tool, with_field(1, name="GenerationIdOrMemberEpoch"))
    assert "HeartbeatRequest.generation_id has another name now: rename it generation_id_or_member_epoch" in text
    assert "'generationId': 'generationIdOrMemberEpoch'" in text
    assert "after" not in text


def test_a_field_that_is_gone_and_a_new_one_of_another_type_are_two_things(tool: ModuleType) -> None:
    text = drafted(tool, with_field(1, name="MemberEpoch", type="int64"))
    assert "generation_id is not in the release: it was removed, or renamed and changed" in text
    assert "member_epoch: int = int64()" in text


def test_fields_in_another_order_are_told(tool: ModuleType) -> None:
    fields = HEARTBEAT["fields"]
    text = drafted(tool, changed(fields=[fields[1], fields[0], *fields[2:]]))
    assert "another order: generation_id, group_id, member_id, group_instance_id" in text
