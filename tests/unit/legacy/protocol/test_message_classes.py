"""Requests and responses by version match those of kafka-python: fields, bytes, `repr()`."""

from __future__ import annotations

import json
import zlib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from tests.unit.legacy.samples import sample, text

from kafka.protocol.api import Request, RequestHeader, Response
from kafka.protocol.struct import Struct
from kafka.protocol.types import (
    Array,
    Boolean,
    Bytes,
    CompactString,
    Int8,
    Int32,
    Schema,
    String,
    TaggedFields,
    VarInt64,
)

pytestmark = pytest.mark.once

ORIGINALS: dict[str, list[Any]] = json.loads(
    (Path(__file__).parents[3] / "data" / "legacy" / "messages.json").read_text()
)


def load(name: str) -> Any:
    module, _, cls = name.partition(".")
    return getattr(import_module(f"kafka.protocol.{module}"), cls)


def test_all_modules_have_their_classes() -> None:
    assert len(ORIGINALS) > 280
    assert len({name.partition(".")[0] for name in ORIGINALS}) == 18


@pytest.mark.parametrize("name", ORIGINALS)
def test_classes_match_fields_and_bytes_of_the_original(name: str) -> None:
    fields, encoded, shown = ORIGINALS[name]
    cls = load(name)
    message = cls(*sample(cls.SCHEMA))
    assert text(cls.SCHEMA) == fields
    assert zlib.crc32(message.encode()) == encoded
    assert shown is None or zlib.crc32(repr(message).encode()) == shown
    assert name.startswith("api_versions.") or cls.decode(message.encode()) == message


def test_an_api_list_has_a_class_per_version_and_acts_as_the_first() -> None:
    from kafka.protocol.metadata import MetadataRequest, MetadataRequest_v0, MetadataResponse

    assert [cls.API_VERSION for cls in MetadataRequest] == list(range(9))
    assert {cls.API_KEY for cls in MetadataRequest} == {3}
    assert [cls.RESPONSE_TYPE for cls in MetadataRequest] == list(MetadataResponse)
    made = MetadataRequest(["a"])
    assert type(made) is MetadataRequest_v0
    assert isinstance(made, MetadataRequest)
    assert MetadataRequest.API_VERSION == 0
    assert repr(made) == "MetadataRequest_v0(topics=['a'])"


def test_to_object_names_everything() -> None:
    from kafka.protocol.fetch import FetchRequest_v0

    request = FetchRequest_v0(-1, 100, 1, [("t", [(0, 5, 1024)])])
    assert request.to_object() == {
        "replica_id": -1,
        "max_wait_time": 100,
        "min_bytes": 1,
        "topics": [{"topic": "t", "partitions": [{"partition": 0, "offset": 5, "max_bytes": 1024}]}],
    }


def test_produce_requests_without_acks_expect_no_response() -> None:
    from kafka.protocol.produce import ProduceRequest_v0

    assert not ProduceRequest_v0(0, 100, []).expect_response()
    assert ProduceRequest_v0(1, 100, []).expect_response()


def test_api_versions_errors_are_decoded_in_version_0() -> None:
    from kafka.protocol.api_versions import ApiVersionsResponse_v0, ApiVersionsResponse_v3

    assert type(ApiVersionsResponse_v3.decode(ApiVersionsResponse_v0(35, []).encode())) is ApiVersionsResponse_v0
    assert type(ApiVersionsResponse_v3.decode(ApiVersionsResponse_v3(0, [], 0, {}).encode())) is ApiVersionsResponse_v3


def test_sasl_bytes_have_both_names() -> None:
    from kafka.protocol.admin import SaslAuthenticateRequest_v0

    request = SaslAuthenticateRequest_v0(sasl_auth_bytes=b"x")
    assert request.auth_bytes == request.sasl_auth_bytes == b"x"


def test_custom_messages_work() -> None:
    class Answer(Response):
        API_KEY = 999
        API_VERSION = 0
        SCHEMA = Schema(("error_code", Int8))

    class Question(Request):
        API_KEY = 999
        API_VERSION = 0
        RESPONSE_TYPE = Answer
        SCHEMA = Schema(
            ("names", Array(String("utf-8"))), ("pairs", Array(("id", Int32), ("data", Bytes))), ("b", Boolean)
        )

    question = Question(names=["ä"], pairs=[(1, b"x"), (2, None)], b=True)
    data = question.encode()
    assert data.hex() == "000000010002c3a40000000200000001000000017800000002ffffffff01"
    assert Question.decode(data) == question
    assert hash(Question.decode(data)) == hash(question)
    assert Question.encode([["ä"], [(1, b"x"), (2, None)], True]) == data
    header = question.build_header(5, "me")
    assert header == RequestHeader(question, correlation_id=5, client_id="me")
    assert header.encode().hex() == "03e700000000000500026d65"


@pytest.mark.parametrize(
    ("args", "kwargs"), [((1, 2), {}), ((), {"unknown": 1}), ((1,), {"a": 1})], ids=["count", "name", "both"]
)
def test_mismatched_fields_are_rejected(args: tuple[int, ...], kwargs: dict[str, int]) -> None:
    class One(Struct):
        SCHEMA = Schema(("a", Int8))

    with pytest.raises(ValueError, match="schema"):
        One(*args, **kwargs)
    with pytest.raises(ValueError, match="Int8"):
        One(1000).encode()
    with pytest.raises(ValueError, match="underrun"):
        One.decode(b"")


def test_types_of_flexible_versions() -> None:
    from io import BytesIO

    assert CompactString().encode("a") == b"\x02a"
    assert CompactString().decode(BytesIO(b"\x00")) is None
    assert VarInt64.encode(-(2**63)) == b"\xff" * 9 + b"\x01"
    assert [VarInt64.decode(BytesIO(VarInt64.encode(n))) for n in (0, -1, 2**63 - 1)] == [0, -1, 2**63 - 1]
    assert TaggedFields.decode(BytesIO(TaggedFields.encode({1: b"x"}))) == {1: b"x"}
    with pytest.raises(ValueError, match="tag"):
        TaggedFields.decode(BytesIO(b"\x02\x01\x00\x01\x00"))
