"""The contents of each module in `kafka.protocol` up to 2.x: request and response classes by version, and constants."""

from __future__ import annotations

import functools
from enum import IntEnum
from io import BytesIO
from typing import Any, NamedTuple, Self, TypeVar

from kafka.legacy.protocol.api import Request, Response
from kafka.legacy.protocol.api_message import ApiMessage, api_message
from kafka.legacy.protocol.layouts import schema_of
from kafka.legacy.protocol.schema_types import Int16, Schema, Struct
from kafka.wire import Message, message_class
from kafka.wire.framing import response_header_version

DEFAULT_GENERATION_ID = -1
UNKNOWN_MEMBER_ID = ""
UNKNOWN_OFFSET = -1


def _behind_version(message: str) -> Schema:
    """Return the schema of a message's first version, preceded by the version."""
    fields = schema_of(message, 0)
    return Schema(("version", Int16), *zip(fields.names, fields.fields, strict=True))


class ProtocolMetadata(Struct):
    """The subscription that a member sends when it joins."""

    SCHEMA = _behind_version("ConsumerProtocolSubscription")


class MemberAssignment(Struct):
    """The assignment that the leader sends to a member."""

    SCHEMA = _behind_version("ConsumerProtocolAssignment")


class GroupMember(NamedTuple):
    """A member of a group, as the leader sees it."""

    member_id: str | None = None
    group_instance_id: str | None = None
    metadata_bytes: bytes | None = None


class OffsetResetStrategy:
    """Where to start reading, as the timestamp in the request."""

    LATEST = -1
    EARLIEST = -2
    NONE = 0


class AbortedTransaction(NamedTuple):
    """An aborted transaction in a Fetch response."""

    producer_id: int
    first_offset: int


class ElectionType(IntEnum):
    """How a leader is elected."""

    PREFERRED = 0
    UNCLEAN = 1


BESIDE: dict[str, dict[str, Any]] = {
    "admin": {"ElectionType": ElectionType},
    "fetch": {"AbortedTransaction": AbortedTransaction},
    "group": {
        "DEFAULT_GENERATION_ID": DEFAULT_GENERATION_ID,
        "UNKNOWN_MEMBER_ID": UNKNOWN_MEMBER_ID,
        "GroupMember": GroupMember,
        "MemberAssignment": MemberAssignment,
        "ProtocolMetadata": ProtocolMetadata,
    },
    "list_offsets": {"OffsetResetStrategy": OffsetResetStrategy, "UNKNOWN_OFFSET": UNKNOWN_OFFSET},
    "offset": {"OffsetResetStrategy": OffsetResetStrategy, "UNKNOWN_OFFSET": UNKNOWN_OFFSET},
}
"""By module, the contents that are not messages."""


CATALOGUE: dict[str, dict[str, int]] = {
    "add_offsets_to_txn": {"AddOffsetsToTxn": 3},
    "add_partitions_to_txn": {"AddPartitionsToTxn": 3},
    "admin": {
        "AlterConfigs": 2,
        "AlterPartitionReassignments": 1,
        "ApiVersion": 3,
        "CreateAcls": 2,
        "CreatePartitions": 2,
        "CreateTopics": 4,
        "DeleteAcls": 2,
        "DeleteGroups": 2,
        "DeleteRecords": 1,
        "DeleteTopics": 4,
        "DescribeAcls": 3,
        "DescribeClientQuotas": 1,
        "DescribeConfigs": 3,
        "DescribeGroups": 4,
        "DescribeLogDirs": 1,
        "ElectLeaders": 2,
        "ListGroups": 3,
        "ListPartitionReassignments": 1,
        "SaslAuthenticate": 2,
        "SaslHandShake": 2,
    },
    "api_versions": {"ApiVersions": 5},
    "commit": {"GroupCoordinator": 2, "OffsetCommit": 8, "OffsetFetch": 6},
    "end_txn": {"EndTxn": 3},
    "fetch": {"Fetch": 12},
    "find_coordinator": {"FindCoordinator": 3},
    "group": {"Heartbeat": 4, "JoinGroup": 6, "LeaveGroup": 4, "SyncGroup": 4},
    "init_producer_id": {"InitProducerId": 2},
    "list_offsets": {"ListOffsets": 6},
    "metadata": {"Metadata": 9},
    "offset": {"Offset": 6},
    "offset_for_leader_epoch": {"OffsetForLeaderEpoch": 5},
    "produce": {"Produce": 9},
    "sasl_authenticate": {"SaslAuthenticate": 2},
    "sasl_handshake": {"SaslHandshake": 2},
    "txn_offset_commit": {"TxnOffsetCommit": 3},
}
"""The APIs in each module of `kafka.protocol`, each with the number of its versions; versions start at 0."""

_TODAY = {
    "ApiVersion": "ApiVersions",
    "GroupCoordinator": "FindCoordinator",
    "Offset": "ListOffsets",
    "SaslHandShake": "SaslHandshake",
}
"""Kafka's names for APIs that have another name in kafka-python."""

M = TypeVar("M", Request, Response)


class ProduceRequest(Request):
    """Appends records to partitions; the broker answers unless `required_acks` is 0."""

    def expect_response(self) -> bool:
        return bool(self.required_acks != 0)


class BaseApiVersionsResponse(Response):
    """The API versions that a broker supports.

    A broker that cannot decode the request answers in version 0, with an error.
    """

    @classmethod
    def decode(cls, data: Any) -> Self:
        stream = BytesIO(data) if isinstance(data, bytes) else data
        start = stream.tell()
        is_error = any(stream.read(2))
        stream.seek(start)
        if is_error and cls.API_VERSION:
            first: Any = versions("api_versions", "ApiVersions", "Response")[0].decode(stream)
            return first  # type: ignore[no-any-return]
        return super().decode(stream)


_BASES: dict[str, type[Any]] = {
    "ProduceRequest": ProduceRequest,
    "ApiVersionsResponse": BaseApiVersionsResponse,
}
_EXTRAS: dict[str, dict[str, Any]] = {
    "JoinGroupRequest": {"UNKNOWN_MEMBER_ID": ""},
    "OffsetCommitRequest": {"DEFAULT_GENERATION_ID": -1, "DEFAULT_RETENTION_TIME": -1},
    "OffsetRequest": {"DEFAULTS": {"replica_id": -1}},
    "ListOffsetsRequest": {"DEFAULTS": {"replica_id": -1}},
    "SaslAuthenticateRequest": {"ALIASES": {"sasl_auth_bytes": "auth_bytes"}},
    "SaslAuthenticateResponse": {"ALIASES": {"sasl_auth_bytes": "auth_bytes"}},
}


class Versions(list[type[M]]):
    """The classes of a message by version. Can also be used as the class of version 0, as in the first releases.

    If it is called with a version, or with fields that version 0 does not have, it creates a message of kafka-python 3.
    It also has attributes that only the kafka-python 3 class has, and the versions that kafka-python 2 did not support.
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if "version" not in kwargs:
            try:
                return self[0](*args, **kwargs)
            except ValueError:
                if args or not kwargs.keys() <= self._newer.fields.keys():
                    raise
        return self._newer(*args, **kwargs)

    def __getitem__(self, version: Any) -> Any:
        try:
            return super().__getitem__(version)
        except IndexError:
            newer = self._newer
            if not newer.min_version <= version <= newer.max_version:
                raise
            return newer[version]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        first = self[0]
        return getattr(first if hasattr(first, name) else self._newer, name)

    def decode(self, *args: Any, **kwargs: Any) -> Any:
        """Decode a message of version 0; with a version, a message of kafka-python 3."""
        cls: Any = self._newer if "version" in kwargs else self[0]
        return cls.decode(*args, **kwargs)

    def __instancecheck__(self, instance: object) -> bool:
        return isinstance(instance, self[0]) or (isinstance(instance, ApiMessage) and instance.WIRE is self._wire)

    @property
    def _newer(self) -> type[ApiMessage]:
        """The class for this message in kafka-python 3."""
        return api_message(self._wire.NAME)

    @property
    def _wire(self) -> type[Message]:
        """The declaration of this message in `kafka.wire`."""
        first: Any = self[0]
        return first.WIRE  # type: ignore[no-any-return]


@functools.cache
def versions(module: str, api: str, kind: str) -> Versions[Any]:
    """Return the classes of an API's requests or responses, which are created on first use.

    Args:
        module: the last part of the old import path.
        api: kafka-python's name for the API.
        kind: `"Request"` or `"Response"`.
    """
    return Versions(_make(module, api, kind, version) for version in range(CATALOGUE[module][api]))


def _make(module: str, api: str, kind: str, version: int) -> type[Any]:
    """Create the class of one version."""
    name, declared = api + kind, message_class(_TODAY.get(api, api) + kind)
    is_request = kind == "Request"
    members: dict[str, Any] = {
        "API_KEY": declared.API_KEY,
        "API_VERSION": version,
        "FLEXIBLE_VERSION": _has_tagged_header(declared, version, is_request),
        "SCHEMA": schema_of(declared.NAME, version),
        "WIRE": declared,
        "__doc__": f"Version {version} of {declared.NAME}.",
        "__module__": f"kafka.protocol.{module}",
        **_EXTRAS.get(name, {}),
    }
    if is_request:
        members["RESPONSE_TYPE"] = versions(module, api, "Response")[version]
        if name == "MetadataRequest":
            members |= {"ALL_TOPICS": None if version else [], "NO_TOPICS": []}
    base = _BASES.get(name, Request if is_request else Response)
    return type(f"{name}_v{version}", (base,), members)


def _has_tagged_header(declared: type[Message], version: int, is_request: bool) -> bool:
    """Return whether the header of a message has tagged fields in a version."""
    if is_request:
        return version >= declared.FLEXIBLE_SINCE
    return response_header_version(declared, version) > 0


def names_of(path: str) -> dict[str, Any]:
    """Return the contents of an old module by name."""
    module = path.rpartition(".")[2]
    found = dict(BESIDE.get(module, {}))
    if module == "api_versions":
        found["BaseApiVersionsResponse"] = BaseApiVersionsResponse
    for api in CATALOGUE[module]:
        for kind in ("Request", "Response"):
            classes = versions(module, api, kind)
            found |= {cls.__name__: cls for cls in classes} | {api + kind: classes}
    return found
