"""Rejected input in Kafka's JSON form. The cases test valid input."""

from __future__ import annotations

from typing import Any

import pytest

from kafka.errors import UnsupportedVersionError, WireFormatError
from kafka.wire import message_class
from kafka.wire.api.fetch import FetchRequest
from kafka.wire.api.redefined import VoteRequest39

HEARTBEAT = {"groupId": "g", "generationId": 1, "memberId": "m", "groupInstanceId": None}


@pytest.mark.parametrize(
    ("name", "json", "version", "text"),
    [
        ("HeartbeatRequest", {}, 0, "HeartbeatRequest v0: expected the key 'groupId', got no key"),
        ("HeartbeatRequest", {"groupId": "g"}, 0, "expected the key 'generationId', got 'groupId'"),
        (
            "HeartbeatRequest",
            HEARTBEAT,
            0,
            "expected no other keys than generationId, groupId, memberId; got 'groupInst",
        ),
        ("HeartbeatRequest", {**HEARTBEAT, "groupId": None}, 3, "groupId: expected a value that is not null"),
        ("HeartbeatRequest", {**HEARTBEAT, "groupId": 1}, 3, "HeartbeatRequest v3.groupId: expected a string, got 1"),
        ("HeartbeatRequest", {**HEARTBEAT, "generationId": "1"}, 3, "generationId: expected an integer, got '1'"),
        ("HeartbeatRequest", {**HEARTBEAT, "generationId": True}, 3, "generationId: expected an integer, got True"),
        ("HeartbeatRequest", [], 3, "HeartbeatRequest v3: expected an object, got []"),
        ("MetadataRequest", {"topics": {}}, 0, "MetadataRequest v0.topics: expected a list, got {}"),
        ("MetadataRequest", {"topics": [1]}, 0, "MetadataRequest v0.topics[0]: expected an object, got 1"),
        (
            "MetadataRequest",
            {"topics": [{"name": 1}]},
            0,
            "MetadataRequest v0.topics[0].name: expected a string, got 1",
        ),
        ("SaslAuthenticateRequest", {"authBytes": "?"}, 0, "authBytes: expected base64, got '?'"),
        ("MetadataRequest", {"topics": [], "allowAutoTopicCreation": 1}, 4, "expected true or false, got 1"),
        (
            "FindCoordinatorRequest",
            {"keyType": 0, "coordinatorKeys": [None]},
            4,
            "coordinatorKeys[0]: expected a string",
        ),
    ],
)
def test_json_of_another_message_is_rejected(name: str, json: Any, version: int, text: str) -> None:
    with pytest.raises(WireFormatError) as caught:
        message_class(name).from_dict(json, version)
    assert text in str(caught.value)


@pytest.mark.parametrize("text", ["", "AAAA", "A" * 23, "é" * 22, 7])
def test_a_uuid_takes_22_characters(text: Any) -> None:
    topic = {"topicId": text, "name": None}
    json = {"topics": [topic], "allowAutoTopicCreation": True, "includeTopicAuthorizedOperations": False}
    with pytest.raises(WireFormatError, match=r"topics\[0\]\.topicId: expected a uuid in 22 characters of base64url"):
        message_class("MetadataRequest").from_dict(json, 12)


def test_a_version_that_does_not_exist_is_refused() -> None:
    for action in (lambda: FetchRequest().to_dict(19), lambda: FetchRequest.from_dict({}, 19)):
        with pytest.raises(UnsupportedVersionError, match="0 to 18"):
            action()


def test_tagged_fields_may_be_left_out() -> None:
    json = FetchRequest().to_dict(12)
    assert "clusterId" not in json
    assert FetchRequest.from_dict({**json, "clusterId": "c"}, 12) == FetchRequest(cluster_id="c")


def test_an_element_that_is_null_is_refused_when_written() -> None:
    with pytest.raises(WireFormatError, match=r"topics\[0\]: expected a value that is not null"):
        FetchRequest(topics=[None]).to_dict(4)  # type: ignore[list-item]


def test_a_redefined_message_is_available_in_its_former_form() -> None:
    assert message_class("VoteRequest", release="3.9") is VoteRequest39
    assert VoteRequest39.NAME == "VoteRequest"
    assert message_class("FetchRequest", release="3.9") is FetchRequest
