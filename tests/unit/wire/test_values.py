"""Values that fields accept and reject, when writing and reading."""

from __future__ import annotations

from enum import IntEnum
from typing import Any
from uuid import UUID

import pytest

from kafka.errors import UnsupportedVersionError, WireFormatError
from kafka.wire import Message
from kafka.wire.api.api_versions import ApiVersionsRequest, ApiVersionsResponse
from kafka.wire.api.describe_client_quotas import DescribeClientQuotasResponse, EntryData, ValueData
from kafka.wire.api.fetch import (
    EpochEndOffset,
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from kafka.wire.api.find_coordinator import FindCoordinatorRequest
from kafka.wire.api.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from kafka.wire.api.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kafka.wire.api.sasl_authenticate import SaslAuthenticateRequest
from kafka.wire.api.update_raft_voter import Listener, UpdateRaftVoterRequest


class Colour(IntEnum):
    RED = 3


def fetched(**values: Any) -> FetchResponse:
    partition = PartitionData(**{"partition_index": 1, "records": b"", **values})
    return FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=[partition])])


@pytest.mark.parametrize(
    ("message", "version", "field", "bounds"),
    [
        (lambda value: FetchRequest(isolation_level=value), 4, "isolation_level", (-128, 127)),
        (lambda value: fetched(error_code=value), 4, "error_code", (-32768, 32767)),
        (lambda value: UpdateRaftVoterRequest(listeners=[Listener(port=value)]), 0, "port", (0, 65535)),
        (lambda value: FetchRequest(max_wait_ms=value), 4, "max_wait_ms", (-(2**31), 2**31 - 1)),
        (lambda value: fetched(high_watermark=value), 4, "high_watermark", (-(2**63), 2**63 - 1)),
    ],
)
def test_integers_are_checked_against_their_range(
    message: Any, version: int, field: str, bounds: tuple[int, int]
) -> None:
    for value in (*bounds, 0, True, Colour.RED):
        made = message(value)
        assert type(made).decode(made.encode(version), version) == made
    for value in (bounds[0] - 1, bounds[1] + 1, 2**70, -(2**70), "1", 1.0, [], b"1"):
        with pytest.raises(
            WireFormatError, match=rf"{field}: expected an integer from {bounds[0]} to {bounds[1]}, got"
        ):
            message(value).encode(version)


@pytest.mark.parametrize(
    ("message", "version", "text"),
    [
        (
            FetchRequest(topics=[FetchTopic(topic=b"t")]),
            4,
            "FetchRequest v4 FetchTopic.topic: expected a str, got b't'",
        ),  # type: ignore[arg-type]
        (FetchRequest(topics=[FetchTopic(topic="x" * 32768)]), 4, "topic: expected a str of at most 32767 bytes"),
        (FetchRequest(rack_id="\ud800"), 12, "FetchRequest v12.rack_id: expected a str that can be written in UTF-8"),
        (FetchRequest(rack_id=None), 12, "FetchRequest v12.rack_id: expected a value that is not null"),  # type: ignore[arg-type]
        (FetchRequest(topics="t"), 4, "FetchRequest v4.topics: expected a list, got 't'"),  # type: ignore[arg-type]
        (FetchRequest(topics=[None]), 4, "FetchRequest v4 FetchTopic: expected a FetchTopic, got None"),  # type: ignore[list-item]
        (FetchRequest(topics=[{}]), 4, "FetchRequest v4 FetchTopic: expected a FetchTopic, got {}"),  # type: ignore[list-item]
        (FetchRequest(topics=[FetchTopic(topic_id="x")]), 13, "topic_id: expected a uuid.UUID, got 'x'"),  # type: ignore[arg-type]
        (FetchRequest(replica_state=None), 15, "replica_state: expected a value that is not null"),  # type: ignore[arg-type]
        (MetadataRequest(allow_auto_topic_creation=1), 4, "creation: expected True or False, got 1"),  # type: ignore[arg-type]
        (SaslAuthenticateRequest(auth_bytes="x"), 0, "auth_bytes: expected bytes or another buffer, got str"),  # type: ignore[arg-type]
        (SaslAuthenticateRequest(auth_bytes=memoryview(b"abcd")[::2]), 0, "auth_bytes: expected bytes in one piece"),  # type: ignore[arg-type]
        (
            FindCoordinatorRequest(coordinator_keys=["a", None]),
            4,
            "coordinator_keys: expected a value that is not null",
        ),  # type: ignore[list-item]
        (fetched(records="x"), 4, "records: expected bytes or another buffer, got str"),
    ],
)
def test_a_value_of_another_type_is_rejected_by_name(message: Message, version: int, text: str) -> None:
    with pytest.raises(WireFormatError) as caught:
        message.encode(version)
    assert text in str(caught.value)


@pytest.mark.parametrize("version", [0, 2])
def test_no_error_shows_authentication_data(version: int) -> None:
    login = SaslAuthenticateRequest(auth_bytes="\0ann\0hunter2")  # type: ignore[arg-type]
    with pytest.raises(WireFormatError, match="auth_bytes: expected bytes or another buffer, got str") as caught:
        login.encode(version)
    assert "hunter2" not in str(caught.value)
    with pytest.raises(WireFormatError, match=r"expected a FetchTopic, got SaslAuthenticateRequest") as caught:
        FetchRequest(topics=[SaslAuthenticateRequest(auth_bytes=b"hunter2")]).encode(4)  # type: ignore[list-item]
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("value", ["1", None, b"", pytest.param(10**400, id="huge")])
def test_floats_are_checked(value: Any) -> None:
    quotas = DescribeClientQuotasResponse(entries=[EntryData(values=[ValueData(key="k", value=value)])])
    with pytest.raises(WireFormatError, match="value: expected a"):
        quotas.encode(0)


@pytest.mark.parametrize("value", [0.0, 1, -2.5, float("inf")])
def test_floats_round_trip(value: float) -> None:
    quotas = DescribeClientQuotasResponse(entries=[EntryData(values=[ValueData(key="k", value=value)])])
    entries = DescribeClientQuotasResponse.decode(quotas.encode(0), 0).entries
    assert entries is not None
    assert entries[0].values[0].value == value


def test_null_is_written_only_where_the_version_allows_it() -> None:
    everything = MetadataRequest(topics=None)
    assert MetadataRequest.decode(everything.encode(1), 1).topics is None
    with pytest.raises(WireFormatError, match=r"MetadataRequest v0\.topics: expected a value that is not null"):
        everything.encode(0)
    with pytest.raises(WireFormatError, match="not null in this version"):
        everything.to_dict(0)


def test_null_is_read_only_where_the_version_allows_it() -> None:
    with pytest.raises(WireFormatError, match=r"MetadataRequest v0\.topics: expected a length before byte 4, got null"):
        MetadataRequest.decode(b"\xff\xff\xff\xff", 0)


def test_a_field_the_version_lacks_must_be_at_its_default() -> None:
    request = MetadataRequest(topics=[], allow_auto_topic_creation=False)
    for write in (request.encode, request.to_dict):
        with pytest.raises(UnsupportedVersionError, match="allow_auto_topic_creation, which is set to False"):
            write(3)
    assert MetadataRequest.decode(request.encode(4), 4) == request


def test_an_ignorable_field_the_version_lacks_is_dropped() -> None:
    request = FetchRequest(rack_id="r", max_bytes=5)
    assert FetchRequest.decode(request.encode(2), 2) == FetchRequest()
    assert "rackId" not in request.to_dict(2)


def test_a_field_of_later_versions_has_its_default_when_read() -> None:
    assert FetchRequest.decode(FetchRequest(max_bytes=5).encode(0), 0).max_bytes == 2**31 - 1
    assert ApiVersionsResponse.decode(ApiVersionsResponse().encode(0), 0).finalized_features_epoch == -1


def test_tagged_fields_are_written_by_tag_and_only_if_set() -> None:
    request = FetchRequest(max_bytes=0, session_epoch=0)
    plain = request.encode(15)
    assert plain[-1:] == b"\x00"
    request.replica_state.replica_id = 1
    request.cluster_id = "c"
    assert request.encode(15) == plain[:-1] + bytes.fromhex("02 00 02 0263 01 0d 00000001ffffffffffffffff 00")
    request.replica_state.replica_id = -1
    assert request.encode(15) == plain[:-1] + bytes.fromhex("01 00 02 0263")


def test_a_tagged_field_may_need_a_size_of_several_bytes() -> None:
    for length in (1, 126, 127, 128, 16382, 16384, 32767):
        request = FetchRequest(cluster_id="x" * length, replica_id=-1)
        assert FetchRequest.decode(request.encode(12), 12) == request


def test_unknown_tagged_fields_are_kept_and_written_back() -> None:
    known = FetchRequest(cluster_id="c", unknown_tags={1: b"one", 300: b"x" * 200})
    data = known.encode(12)
    again = FetchRequest.decode(data, 12)
    assert again.unknown_tags == {1: b"one", 300: b"x" * 200}
    assert again == known
    assert again.encode(12) == data


def test_a_tag_that_is_unknown_in_one_version_is_read_as_a_field_in_another() -> None:
    data = FetchRequest(unknown_tags={1: bytes.fromhex("00000005000000000000000700")}).encode(12)
    assert FetchRequest.decode(data, 12).unknown_tags
    with pytest.raises(WireFormatError, match="expected unknown tags only, tag 1 is replica_state"):
        FetchRequest(unknown_tags={1: b""}).encode(15)


@pytest.mark.parametrize("tags", [{-1: b""}, {2**32: b""}, {"1": b""}, {1: "x"}])
def test_unknown_tags_are_checked(tags: Any) -> None:
    with pytest.raises(WireFormatError, match="expected unknown_tags to map tags to bytes"):
        FetchRequest(unknown_tags=tags).encode(12)


def test_unknown_tags_need_a_flexible_version() -> None:
    with pytest.raises(UnsupportedVersionError, match="v11 has no tagged fields"):
        FetchRequest(unknown_tags={9: b""}).encode(11)


@pytest.mark.parametrize(
    ("tags", "text"),
    [
        ("02 05 00 05 00", "expected a tag above 5 before byte 6, got 5"),
        ("02 06 00 05 00", "expected a tag above 6 before byte 6, got 5"),
        ("01 05 02 00", "expected 2 more bytes at byte 5, found 1"),
        ("01 05 80 80 80 80 80 01", "varint of at most 5 bytes"),
        ("01 05 ff ff ff ff 7f", "varint of at most 32 bits"),
        ("ff ff ff ff 0f", "expected 1 more bytes"),
    ],
)
def test_bad_tagged_fields_are_refused(tags: str, text: str) -> None:
    with pytest.raises(WireFormatError) as caught:
        ApiVersionsRequest.decode(bytes.fromhex("01 01" + tags), 3)
    assert text in str(caught.value)


def test_a_known_tagged_field_must_fill_its_size() -> None:
    start = ApiVersionsResponse().encode(3)[:-1]
    assert (
        ApiVersionsResponse.decode(start + bytes.fromhex("01 01 08 0000000000000005"), 3).finalized_features_epoch == 5
    )
    with pytest.raises(WireFormatError, match="expected tag 1 to take 9 bytes at byte 10, it took 8"):
        ApiVersionsResponse.decode(start + bytes.fromhex("01 01 09 000000000000000500"), 3)
    with pytest.raises(WireFormatError, match="expected 8 more bytes at byte 10, found 7"):
        ApiVersionsResponse.decode(start + bytes.fromhex("01 01 07 0000000000000005"), 3)


@pytest.mark.parametrize("buffer", [bytes, bytearray, memoryview])
def test_records_are_views_of_the_input_and_the_given_parts_of_the_output(buffer: Any) -> None:
    records = buffer(b"some records")
    produce = ProduceRequest(
        topic_data=[
            TopicProduceData(
                name="t",
                partition_data=[PartitionProduceData(index=i, records=r) for i, r in enumerate((records, None))],
            )
        ]
    )
    parts = produce.encode_parts(9)
    assert sum(part is records for part in parts) == 1
    data = bytearray(b"".join(parts))
    decoded = ProduceRequest.decode(data, 9).topic_data[0].partition_data
    assert [partition.records for partition in decoded] == [records, None]
    assert isinstance(decoded[0].records, memoryview)
    data[data.index(b"some")] = ord("S")
    assert bytes(decoded[0].records) == b"Some records"


def test_records_given_as_a_buffer_of_wide_items_are_written_as_bytes() -> None:
    wide = memoryview(bytes(8)).cast("q")
    decoded = FetchResponse.decode(fetched(records=wide).encode(4), 4).responses[0].partitions[0]
    assert decoded.records == bytes(8)


def test_bytes_are_copied_from_the_message() -> None:
    data = bytearray(SaslAuthenticateRequest(auth_bytes=b"secret").encode(0))
    auth_bytes = SaslAuthenticateRequest.decode(data, 0).auth_bytes
    data[:] = bytes(len(data))
    assert auth_bytes == b"secret"
    assert type(auth_bytes) is bytes


def test_any_contiguous_buffer_can_be_decoded() -> None:
    data = FetchRequest(max_wait_ms=9).encode(0)
    for buffer in (data, bytearray(data), memoryview(data), memoryview(bytearray(data)).cast("b")):
        assert FetchRequest.decode(buffer, 0).max_wait_ms == 9
    with pytest.raises(TypeError):
        FetchRequest.decode(memoryview(data + data)[::2], 0)


def test_a_message_may_be_followed_by_something_else() -> None:
    data = FetchRequest(max_wait_ms=9).encode(0)
    assert FetchRequest.decode_prefix(b"ab" + data + b"more", 0, start=2) == (
        FetchRequest(max_wait_ms=9),
        2 + len(data),
    )
    with pytest.raises(WireFormatError, match=f"expected the end at byte {len(data)}, found 4 more bytes"):
        FetchRequest.decode(data + b"more", 0)
    for start in (-1, len(data) + 1):
        with pytest.raises(WireFormatError, match=f"expected it to begin at byte {start}"):
            FetchRequest.decode_prefix(data, 0, start=start)


def test_an_error_names_the_field() -> None:
    data = fetched(records=b"abc").encode(4)
    with pytest.raises(WireFormatError) as caught:
        FetchResponse.decode(data[:-1], 4)
    assert str(caught.value) == (
        f"FetchResponse v4.responses.partitions.records: expected 3 more bytes at byte {len(data) - 3}, found 2"
    )


def test_an_array_longer_than_the_message_is_rejected_before_allocation() -> None:
    with pytest.raises(
        WireFormatError, match=r"MetadataRequest v0\.topics: expected 2147483647 elements of at least 2"
    ):
        MetadataRequest.decode(bytes.fromhex("7fffffff") + bytes(1000), 0)
    with pytest.raises(WireFormatError, match="expected 501 elements of at least 2 bytes at byte 4, found 1000 bytes"):
        MetadataRequest.decode(bytes.fromhex("000001f5") + bytes(1000), 0)
    assert len(MetadataRequest.decode(bytes.fromhex("000001f4") + bytes(1000), 0).topics or ()) == 500


def test_a_length_below_null_is_refused() -> None:
    with pytest.raises(WireFormatError, match="got the length -2"):
        MetadataRequest.decode(bytes.fromhex("fffffffe"), 1)
    with pytest.raises(WireFormatError, match="got the length -2"):
        MetadataRequest.decode(bytes.fromhex("00000001 fffe"), 1)


def test_text_that_is_not_utf8_is_refused() -> None:
    with pytest.raises(WireFormatError, match=r"topics\.name: expected UTF-8 at byte 6, got b'\\xff'"):
        MetadataRequest.decode(bytes.fromhex("00000001 0001 ff"), 1)


def test_strings_of_flexible_versions_have_the_same_length_limit() -> None:
    with pytest.raises(WireFormatError, match="expected a text of at most 32767 bytes"):
        ApiVersionsRequest.decode(b"\x81\x80\x02" + bytes(40000), 3)


def test_uuids_round_trip() -> None:
    topic = MetadataRequestTopic(topic_id=UUID("12345678-9abc-def0-1234-56789abcdef0"), name=None)
    decoded = MetadataRequest.decode(MetadataRequest(topics=[topic]).encode(12), 12)
    assert decoded.topics == [topic]
    assert MetadataResponse.decode(MetadataResponse().encode(12), 12) == MetadataResponse()


def test_a_tuple_is_accepted_instead_of_a_list() -> None:
    assert FindCoordinatorRequest(coordinator_keys=("a", "b")).encode(4) == (  # type: ignore[arg-type]
        FindCoordinatorRequest(coordinator_keys=["a", "b"]).encode(4)
    )


def test_a_struct_equal_to_its_default_is_omitted() -> None:
    assert fetched(diverging_epoch=EpochEndOffset()).encode(12) == fetched().encode(12)
    assert (
        "divergingEpoch" not in fetched(diverging_epoch=EpochEndOffset()).to_dict(12)["responses"][0]["partitions"][0]
    )
