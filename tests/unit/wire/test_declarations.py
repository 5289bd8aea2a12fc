"""Properties of all declarations, and the methods of their classes."""

from __future__ import annotations

import copy
import graphlib
import inspect
import pickle
import re
import subprocess
import sys
import typing
from pathlib import Path
from types import NoneType
from typing import Any
from uuid import UUID

import pytest

from kafka.errors import UnsupportedVersionError
from kafka.wire import Message, Request, Response, Struct, kinds, message_class, message_names, request_class
from kafka.wire.api.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic, PartitionData
from kafka.wire.api.metadata import MetadataRequest
from kafka.wire.index import API_NAMES, REDEFINED
from kafka.wire.jsonform import json_name
from kafka.wire.kinds import Kind
from kafka.wire.structs import Field

PYTHON_TYPES: dict[Kind, set[type]] = {
    Kind.INT8: {int},
    Kind.INT16: {int},
    Kind.UINT16: {int},
    Kind.INT32: {int},
    Kind.INT64: {int},
    Kind.FLOAT64: {float},
    Kind.BOOL: {bool},
    Kind.STRING: {str},
    Kind.BYTES: {bytes},
    Kind.RECORDS: {bytes, bytearray, memoryview},
    Kind.UUID: {UUID},
}


def every_message() -> list[type[Message]]:
    return [*map(message_class, message_names()), *(message_class(name, release) for name, release in REDEFINED)]


def every_struct() -> list[type[Struct]]:
    found: dict[type[Struct], None] = {}

    def visit(struct: type[Struct]) -> None:
        found[struct] = None
        for field in struct.FIELDS:
            if field.struct is not None:
                visit(field.struct)

    for message in every_message():
        visit(message)
    return list(found)


def types_of(field: Field) -> set[Any]:
    """Return the types that the annotation of a field must contain."""
    types: set[Any]
    if field.kind is Kind.ARRAY:
        assert field.element is not None
        element = field.struct or next(iter(PYTHON_TYPES[field.element]))
        types = {list[element]}  # type: ignore[valid-type]
    elif field.kind is Kind.STRUCT:
        types = {field.struct}
    else:
        types = set(PYTHON_TYPES[field.kind])
    return types | {NoneType} if field.null_since <= field.null_until and field.null_since < 100 else types


def named_types(annotation: Any) -> set[Any]:
    """Return the members of a union, or a single type."""
    if typing.get_origin(annotation) is list:
        return {annotation}
    return set(typing.get_args(annotation)) or {annotation}


def test_annotations_match_the_fields() -> None:
    for struct in every_struct():
        annotations = inspect.get_annotations(struct, eval_str=True)
        assert list(annotations) == [field.name for field in struct.FIELDS], struct
        for field in struct.FIELDS:
            assert named_types(annotations[field.name]) == types_of(field), (struct, field.name)


def test_field_names_do_not_hide_methods() -> None:
    for struct in every_struct():
        taken = {name for base in struct.__mro__[1:] for name in vars(base)}
        assert [field.name for field in struct.FIELDS if field.name in taken] == [], struct
        assert len({json_name(field.name) for field in struct.FIELDS}) == len(struct.FIELDS), struct
        tags = [field.tag for field in struct.FIELDS if field.tag >= 0]
        assert len(tags) == len(set(tags)), struct


def test_every_message_has_a_docstring() -> None:
    for message in every_message():
        assert message.__doc__, message
        assert 0 <= message.MIN_VERSION <= message.MAX_VERSION, message
        assert message() == message()
        for field in message.FIELDS:
            assert getattr(message(), field.name) == field.make_default(), (message, field.name)


def test_a_request_knows_its_response() -> None:
    for key, name in API_NAMES.items():
        request = request_class(key)
        assert issubclass(request, Request)
        assert issubclass(request.RESPONSE, Response)
        assert (f"{name}Request", f"{name}Response") == (request.NAME, request.RESPONSE.NAME)
        assert message_class(request.RESPONSE.NAME) is request.RESPONSE
        assert request.RESPONSE.REQUEST is request
        assert {request.API_KEY, request.RESPONSE.API_KEY} == {key}
        assert request.RESPONSE.MAX_VERSION == request.MAX_VERSION


def test_class_data_matches_kafkas() -> None:
    assert (FetchRequest.NAME, FetchRequest.API_KEY) == ("FetchRequest", 1)
    assert (FetchRequest.MIN_VERSION, FetchRequest.MAX_VERSION, FetchRequest.FLEXIBLE_SINCE) == (0, 18, 12)
    subscription = message_class("ConsumerProtocolSubscription")
    assert (subscription.API_KEY, subscription.FLEXIBLE_SINCE) == (-1, 32767)
    assert FetchResponse.HAS_RECORDS
    assert not MetadataRequest.HAS_RECORDS


@pytest.mark.parametrize(
    "name", ["", "Fetch", "fetchRequest", "FetchRequestResponse", "FetchResponseRequest", "Request"]
)
def test_an_unknown_name_is_refused(name: str) -> None:
    with pytest.raises(LookupError, match="expected the name of a message"):
        message_class(name)


@pytest.mark.parametrize("key", [-1, 1000])
def test_an_unknown_key_is_refused(key: int) -> None:
    with pytest.raises(LookupError, match=f"got {key}"):
        request_class(key)


@pytest.mark.parametrize("version", [-1, 19])
def test_a_version_that_does_not_exist_is_refused(version: int) -> None:
    for action in (lambda: FetchRequest().encode(version), lambda: FetchRequest.decode(b"", version)):
        with pytest.raises(UnsupportedVersionError, match="0 to 18"):
            action()


def test_loading_one_message_does_not_load_the_others() -> None:
    program = (
        "import sys; from kafka.wire import message_class; message_class('HeartbeatRequest');"
        "print(sorted(name for name in sys.modules if name.startswith('kafka.wire.api.')))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.strip() == "['kafka.wire.api.heartbeat']"


def test_an_unset_field_has_its_default() -> None:
    request = FetchRequest(max_wait_ms=500)
    assert request.max_wait_ms == 500
    assert (request.session_epoch, request.rack_id, request.cluster_id, request.topics) == (-1, "", None, [])
    assert PartitionData().diverging_epoch.end_offset == -1
    assert PartitionData().records is None


def test_defaults_are_not_shared() -> None:
    one, other = FetchRequest(), FetchRequest()
    one.topics.append(FetchTopic(topic="t"))
    one.replica_state.replica_id = 7
    assert one.topics == [FetchTopic(topic="t")]
    assert one.replica_state.replica_id == 7
    assert (other.topics, other.replica_state.replica_id, FetchRequest().topics) == ([], -1, [])


def test_a_field_that_does_not_exist_is_refused() -> None:
    with pytest.raises(TypeError, match="FetchTopic has no field name; it has partitions"):
        FetchTopic(name="t")  # type: ignore[call-arg]


def test_structs_compare_by_value() -> None:
    assert FetchPartition(partition=1) == FetchPartition(partition=1, fetch_offset=0)
    assert FetchPartition(partition=1) != FetchPartition(partition=2)
    assert FetchPartition() != FetchTopic()
    assert FetchPartition(unknown_tags={9: b""}) != FetchPartition()
    with pytest.raises(TypeError, match="unhashable"):
        hash(FetchPartition())


def test_repr_shows_what_is_set() -> None:
    request = FetchRequest(max_wait_ms=500, min_bytes=0, topics=[FetchTopic(topic="t")])
    assert repr(request) == "FetchRequest(max_wait_ms=500, topics=[FetchTopic(topic='t')])"


def test_messages_can_be_copied_and_pickled() -> None:
    request = FetchRequest(max_wait_ms=500, topics=[FetchTopic(topic="t", partitions=[FetchPartition(partition=3)])])
    assert copy.deepcopy(request) == request
    assert pickle.loads(pickle.dumps(request)) == request


def test_compiled_modules_have_the_same_numbers_of_kinds() -> None:
    text = Path(kinds.__file__).with_suffix(".pxd").read_text(encoding="utf-8")
    numbers = {name: int(number) for name, number in re.findall(r"^    (\w+) = (\d+)$", text, re.MULTILINE)}
    assert numbers == {kind.name: kind.value for kind in Kind}
    assert numbers == {name: getattr(kinds, name) for name in numbers}


def test_no_module_imports_another_that_imports_it() -> None:
    folder = Path(kinds.__file__).parent
    imports = {
        path.stem: set(re.findall(r"^ *from kafka\.wire\.(\w+)", path.read_text(encoding="utf-8"), re.MULTILINE))
        for path in folder.glob("*.py")
        if path.stem != "__init__"
    }
    order = list(graphlib.TopologicalSorter(imports).static_order())
    assert order.index("kinds") < order.index("structs") < order.index("plan") < order.index("message")
