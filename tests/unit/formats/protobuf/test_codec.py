"""Protobuf values: schemas in every form, and conversion to objects and columns and back."""

from __future__ import annotations

import base64
import datetime
import sys
from typing import Any

import pytest

pa: Any = pytest.importorskip("pyarrow")
pytest.importorskip("ptars")
pytest.importorskip("grpc_tools")

from google.protobuf import timestamp_pb2  # noqa: E402
from google.protobuf.descriptor_pb2 import FileDescriptorSet  # noqa: E402

from kafka.formats import (  # noqa: E402
    Protobuf,
    ProtobufDecodeError,
    ProtobufEncodeError,
    ProtobufSchemaError,
)
from kafka.formats.protobuf.descriptors import (  # noqa: E402
    descriptor_proto,
    file_of,
    indexes_of,
    message_of,
    proto_text,
)
from kafka.formats.value_framing import index_bytes, read_indexes  # noqa: E402

pytestmark = pytest.mark.once

MONEY = 'syntax = "proto3"; package shop; message Money { int64 cents = 1; }'
ORDER = """syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
import "google/protobuf/duration.proto";
import "money.proto";
enum Kind { NONE = 0; GIFT = 1; }
message Order {
  int64 id = 1;
  string customer = 2;
  optional int32 count = 3;
  Kind kind = 4;
  google.protobuf.Timestamp at = 5;
  repeated Line lines = 6;
  map<string, int32> tags = 7;
  oneof pay { string card = 8; int64 cash = 9; }
  google.protobuf.Int64Value points = 10;
  google.protobuf.Duration took = 11;
  Money total = 12;
  repeated double ratios = 13;
  bytes raw = 14;
  uint64 big = 15;
  message Line { string sku = 1; sint32 quantity = 2; repeated Kind kinds = 3; }
}
message Other { bool yes = 1; }
"""
ORDERS = Protobuf(ORDER, references={"money.proto": MONEY})
AT = datetime.datetime(2026, 1, 2, 3, 4, 5, 678_901, datetime.UTC)


def full() -> Any:
    order = ORDERS.message_class(
        id=-1, customer="grün", count=0, kind=1, card="x", tags={"a": 1}, ratios=[0.5, -1], raw=b"\0\xff", big=2**64 - 1
    )
    order.at.FromDatetime(AT.replace(tzinfo=None))
    order.lines.add(sku="s", quantity=-3, kinds=[1, 0])
    order.points.value = 0
    order.took.FromTimedelta(datetime.timedelta(seconds=3))
    order.total.cents = 250
    return order


ROW = {
    "id": -1,
    "customer": "grün",
    "count": 0,
    "kind": "GIFT",
    "at": AT,
    "lines": [{"sku": "s", "quantity": -3, "kinds": ["GIFT", "NONE"]}],
    "tags": [("a", 1)],
    "card": "x",
    "cash": None,
    "points": 0,
    "took": datetime.timedelta(seconds=3),
    "total": {"cents": 250},
    "ratios": [0.5, -1.0],
    "raw": b"\0\xff",
    "big": 2**64 - 1,
}


def binary(*values: bytes | None) -> Any:
    return pa.array(values, pa.binary())


# -- schemas ----------------------------------------------------------------------------------------------------------


def test_forms_of_a_schema() -> None:
    file = ORDERS.descriptor.file
    proto = descriptor_proto(file)
    files = FileDescriptorSet(file=[descriptor_proto(each) for each in (*file.dependencies, file)])
    data = full().SerializeToString()
    encoded = base64.b64encode(proto.SerializeToString()).decode()
    for schema in (ORDERS.message_class, files, files.SerializeToString(), proto, encoded, proto_text(proto)):
        made = Protobuf(schema, references={"money.proto": MONEY})
        assert made.descriptor.full_name == "shop.Order"
        assert made.decode(data).SerializeToString(deterministic=True) == full().SerializeToString(deterministic=True)
        assert made.type == ORDERS.type
    assert Protobuf(timestamp_pb2.Timestamp).decode(b"\x08\x01").seconds == 1


@pytest.mark.parametrize(
    ("message", "name"),
    [
        (None, "shop.Order"),
        ("Other", "shop.Other"),
        ("shop.Order.Line", "shop.Order.Line"),
        ([1], "shop.Other"),
        ([0, 1], "shop.Order.Line"),
    ],
)
def test_which_message(message: Any, name: str) -> None:
    made = Protobuf(ORDER, message, references={"money.proto": MONEY})
    assert made.descriptor.full_name == name
    if isinstance(message, list):
        assert indexes_of(made.descriptor) == message


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ('syntax = "proto3";\nmessage A { int32 a = 0; }', "line 2, column 23: Field numbers must be positive"),
        (ORDER, "money.proto: File not found"),
        ("hello", "or base64"),
        ('syntax = "proto3";', "with a message"),
        (b"\xff\xff", "serialized descriptor"),
        (7, "got int"),
    ],
)
def test_invalid_schemas(schema: Any, text: str) -> None:
    with pytest.raises(ProtobufSchemaError, match=text):
        Protobuf(schema)


def test_messages_that_do_not_exist() -> None:
    for message in ("Nobody", [7], [0, 9]):
        with pytest.raises(ProtobufSchemaError, match="has no message"):
            Protobuf(MONEY, message)
    with pytest.raises(ProtobufSchemaError, match="relative path"):
        Protobuf('syntax = "proto3"; import "../a.proto"; message A {}', references={"../a.proto": MONEY})


PROTO2 = """syntax = "proto2";
package p;
option java_package = "x.y";
message R {
  option deprecated = true;
  reserved 20, 30 to 32, 1000 to max;
  reserved "old", "older";
  extensions 100 to 199;
  message Before { optional int32 x = 1; }
  required int32 a = 1;
  optional E e = 2 [default = B];
  optional string s = 3 [default = "q\\"uote", deprecated = true];
  repeated int32 n = 5 [packed = true];
  map<int32, Before> m = 7;
  repeated group G = 8 { optional int32 y = 1; }
  oneof o { int32 b = 9; R c = 10; }
  optional int32 named = 11 [json_name = "other"];
}
enum E { option allow_alias = true; A = 1; B = 2; C = 2; reserved 7; }
extend R { optional int32 ext = 100; }
service S { rpc Call (R) returns (stream R); }
"""


@pytest.mark.parametrize(
    "schema",
    [
        PROTO2,
        'edition = "2023"; message R { int32 a = 1; int32 b = 2 [features.field_presence = IMPLICIT]; }',
        'syntax = "proto3"; message M { message B {} map<string, B> m = 1; message C {} optional int32 o = 2; }',
    ],
)
def test_text_and_descriptor_are_equivalent(schema: str) -> None:
    proto = descriptor_proto(file_of(schema))
    text = proto_text(proto)
    again = descriptor_proto(file_of(text))
    assert again == proto
    assert proto_text(again) == text


# -- objects ----------------------------------------------------------------------------------------------------------


def test_objects() -> None:
    data = ORDERS.encode(full())
    assert data == full().SerializeToString()
    assert ORDERS.decode(data) == full()
    assert ORDERS.decode(ORDERS.encode({"id": 7, "tags": {"a": 1}})).tags["a"] == 1
    with pytest.raises(ProtobufDecodeError, match=r"expected a message shop\.Order"):
        ORDERS.decode(b"\x0a")
    for wrong in ({"nope": 1}, {"id": "x"}, timestamp_pb2.Timestamp(), 7):
        with pytest.raises(ProtobufEncodeError, match=r"expected a message shop\.Order"):
            ORDERS.encode(wrong)


# -- columns ----------------------------------------------------------------------------------------------------------


def test_columns() -> None:
    column, bad = ORDERS.decode_rows(binary(full().SerializeToString(), None, b""))
    assert bad == []
    first, second, third = column.to_pylist()
    assert first == ROW
    assert second is None
    assert third["count"] is third["at"] is third["total"] is third["points"] is None
    assert (third["id"], third["customer"], third["kind"], third["lines"]) == (0, "", "NONE", [])
    values = ORDERS.encode_rows(column)
    assert [None if each is None else ORDERS.decode(each) for each in values.to_pylist()] == [
        full(),
        None,
        ORDERS.message_class(),
    ]
    assert ORDERS.decode_rows(binary())[0].type == ORDERS.type
    assert ORDERS.decode_rows(pa.chunked_array([binary(b""), binary(None)]))[0].null_count == 1
    assert ORDERS.decode_rows(pa.array([b""], pa.large_binary()))[1] == []


BAD = {
    b"\x08": "At id, byte 1: the value ends within a number",
    b"\x12\x05ab": "At customer, byte 2: expected 5 bytes, got 2",
    b"\x12\x02a\xff": "At customer, byte 3: expected text in UTF-8",
    b"\x32\x04\x0a\x00\x10\xff": "At lines[0].quantity, byte 5: the value ends within a number",
    b"\x07": "At byte 0: expected a field, got number 0 of wire type 7",
    b"\x2a\x0b\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01": "At at: expected a time within the range of Protobuf",
}


@pytest.mark.parametrize("framed", [False, True])
def test_a_bad_value_affects_only_itself(framed: bool) -> None:
    prefix = b"\0\0\0\1\2\0" if framed else b""
    good = ORDERS.message_class(id=5).SerializeToString()
    values = [good, *BAD, None, good]
    column, bad = ORDERS.decode_rows(
        binary(*(None if each is None else prefix + each for each in values)), framed=framed
    )
    assert [None if each is None else each["id"] for each in column.to_pylist()] == [5, *[None] * (len(BAD) + 1), 5]
    assert [each.row for each in bad] == list(range(1, len(BAD) + 1))
    assert [each.cause for each in bad] == list(BAD.values())
    assert [each.field for each in bad] == ["id", "customer", "customer", "lines[0].quantity", None, "at"]
    assert repr(ORDERS) == "Protobuf(message shop.Order)"
    assert {each.schema_id for each in bad} == {258 if framed else None}


def test_the_last_field_of_a_oneof_counts() -> None:
    """Previously, all fields were returned, and could not be written again."""
    protobuf = Protobuf(
        """syntax = "proto2";
    enum Kind { OLD = 1; }
    message Paid { oneof by { string card = 1; int64 cash = 2; Kind kind = 3; } optional int32 n = 4; }
    message Day { repeated Paid paid = 1; map<string, Paid> by_name = 2; optional Paid last = 3; }
    """,
        "Day",
    )
    paid = b"\x0a\1x\x20\5\x10\7"  # a card, n, cash
    unknown = b"\x10\7\x18\x63"  # cash, and an unknown enum value
    values = [
        b"\x0a" + bytes([len(paid)]) + paid,
        b"\x1a\2\x10\1",
        b"\x12" + bytes([len(paid) + 5]) + b"\x0a\1a\x12" + bytes([len(paid)]) + paid,
        b"\x1a" + bytes([len(unknown)]) + unknown,
        b"\x1a\3\x0a\1x\x1a\2\x10\7",
    ]
    column, bad = protobuf.decode_rows(binary(*values))
    assert bad == []
    cash = {"card": None, "cash": 7, "kind": None, "n": None}
    assert column.to_pylist() == [
        {"paid": [cash | {"n": 5}], "by_name": [], "last": None},
        {"paid": [], "by_name": [], "last": cash | {"cash": 1}},
        {"paid": [], "by_name": [("a", cash | {"n": 5})], "last": None},
        {"paid": [], "by_name": [], "last": cash},
        {"paid": [], "by_name": [], "last": cash},
    ]
    written = protobuf.encode_rows(column).to_pylist()
    assert [protobuf.decode(each).ByteSize() for each in written] == [len(each) for each in written]


def test_prefixes() -> None:
    other = Protobuf(ORDER, "Other", references={"money.proto": MONEY})
    line = Protobuf(ORDER, [0, 1], references={"money.proto": MONEY})
    head = b"\0\0\0\0\7"
    values = binary(head + b"\0", b"\1\0\0\0\1\0", head + b"\2\2\x08\1", head, None, head + b"\4\0\2\x0a\1s", b"")
    column, bad = ORDERS.decode_rows(values, framed=True)
    assert [each.row for each in bad] == [1, 2, 3, 5, 6]
    assert [each.schema_id for each in bad] == [None, 7, None, 7, None]
    assert "expected a zero byte, a schema id" in bad[0].cause
    assert "expected a message shop.Order, got the one at position [1]" in bad[1].cause
    assert column.null_count == 6
    assert other.decode_rows(values, framed=True)[0][2].as_py() == {"yes": True}
    assert line.decode_rows(values, framed=True)[0][5].as_py()["sku"] == "s"


@pytest.mark.parametrize("indexes", [[0], [1], [0, 0], [3, 300, 0], [70000]])
def test_positions(indexes: list[int]) -> None:
    data = index_bytes(indexes)
    assert read_indexes(b"x" + data + b"y", 1) == (indexes, 1 + len(data))


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        ({"nope": [1]}, "has no field 'nope'"),
        ({"id": ["x"]}, "the column 'id' is of the type string, but the schema's is int64"),
        ({"count": [2**40]}, "At count: expected int32"),
        ({"kind": ["GIFT", "PRESENT"]}, r"At kind: 'PRESENT' is not a value of the enum shop\.Kind"),
        ({"lines": [[{"sku": "", "quantity": 0, "kinds": ["GIFT", "x"]}]]}, r"At lines\.kinds: 'x' is not a value"),
        ({"card": ["x", "y"], "cash": [None, 3]}, "row 1: expected one field of the oneof 'pay', got card and cash"),
        ({"ratios": [[1.5, None]]}, "At ratios: expected no null in a list"),
        ({"at": [datetime.datetime(9999, 12, 31, tzinfo=datetime.UTC) + datetime.timedelta(0)]}, None),
    ],
)
def test_rows_that_do_not_fit(columns: dict[str, Any], text: str | None) -> None:
    table = pa.table(columns)
    if text is None:
        assert ORDERS.decode(ORDERS.encode_rows(table)[0].as_py()).at.seconds == 253402214400
        return
    with pytest.raises(ProtobufEncodeError, match=text):
        ORDERS.encode_rows(table)


def test_rows_of_other_types_that_fit() -> None:
    table = pa.table({"id": pa.array([1, None], pa.int16()), "customer": pa.array(["a", None], pa.large_string())})
    values = [ORDERS.decode(each.as_py()) for each in ORDERS.encode_rows(table)]
    assert values == [ORDERS.message_class(id=1, customer="a"), ORDERS.message_class()]
    assert ORDERS.encode_rows(table.to_batches()[0]).to_pylist()[1] == b""


def test_values_below_null_are_not_written() -> None:
    codec = Protobuf("""syntax = "proto3";
message R { Kind kind = 1; Inner inner = 2; oneof one { string a = 3; string b = 4; } repeated Kind kinds = 5; }
message Inner { Kind kind = 1; oneof one { string a = 2; string b = 3; } repeated Kind kinds = 4; }
enum Kind { ZERO = 0; ONE = 1; }
""")
    texts = pa.array(["", "ONE"])
    kinds = pa.array([[None], ["ONE"]])
    names = ["kind", "a", "b", "kinds"]
    inner = [texts, pa.array(["x", "x"]), pa.array(["x", None]), kinds]
    hidden = pa.StructArray.from_arrays(inner, names, mask=pa.array([True, False]))
    wrong = pa.StructArray.from_arrays([*inner, hidden], [*names, "inner"], mask=pa.array([True, False]))
    first, second = codec.encode_rows(wrong).to_pylist()
    assert first is None
    message = codec.message_class(kind="ONE", a="x", kinds=["ONE"])
    message.inner.kind, message.inner.a = 1, "x"
    message.inner.kinds.append(1)
    assert codec.decode(second) == message
    alone = pa.StructArray.from_arrays([hidden], ["inner"])
    assert codec.encode_rows(alone).to_pylist()[0] == b""


def test_unset_messages_have_null_fields_in_spark_columns() -> None:
    codec = Protobuf("""syntax = "proto3";
message R { Inner inner = 1; repeated Inner list = 2; map<string, Inner> map = 3; }
message Inner { repeated int64 ids = 1; map<string, int64> counts = 2; int32 size = 3; string text = 4; }
""")
    inner = pa.struct(
        [
            ("ids", pa.list_(pa.field("element", pa.int64()))),
            ("counts", pa.map_(pa.string(), pa.int64())),
            ("size", pa.int32()),
            ("text", pa.string()),
        ]
    )
    nulls, full = dict.fromkeys(inner.names), {"ids": [1], "counts": [("k", 2)], "size": 3, "text": "x"}
    fields = pa.array([nulls, nulls, full], inner).flatten()
    messages = pa.StructArray.from_arrays(fields, fields=list(inner), mask=pa.array([True, False, False]))
    lists = pa.array([[], [nulls], [full]], pa.list_(pa.field("element", inner)))
    maps = pa.array([None, [("a", nulls)], [("a", full)]], pa.map_(pa.string(), inner))
    assert messages.field(0)[0].as_py() is None
    values = codec.encode_rows(pa.StructArray.from_arrays([messages, lists, maps], ["inner", "list", "map"]))
    unset = codec.message_class(inner={}, list=[{}])
    unset.map["a"].SetInParent()
    one = {"ids": [1], "counts": {"k": 2}, "size": 3, "text": "x"}
    expected = codec.message_class(inner=one, list=[one])
    expected.map["a"].CopyFrom(expected.inner)
    assert [codec.decode(each.as_py()) for each in values] == [codec.message_class(), unset, expected]


def test_proto2_presence_and_recursive_messages() -> None:
    codec = Protobuf(PROTO2)
    message = codec.message_class(a=1, s="")
    message.c.a = 2
    column, bad = codec.decode_rows(binary(message.SerializeToString()))
    assert bad == []
    row = column[0].as_py()
    assert (row["a"], row["s"], row["e"]) == (1, "", None)
    assert row["c"] == b"\x08\x02"
    with pytest.raises(ProtobufEncodeError, match="At c: a recursive message cannot be written"):
        codec.encode_rows(column)
    message.ClearField("c")
    column, bad = codec.decode_rows(binary(message.SerializeToString()))
    assert codec.decode(codec.encode_rows(column)[0].as_py()) == message


def test_editions_are_supported_for_objects_only() -> None:
    codec = Protobuf('edition = "2023"; message R { int32 a = 1; }')
    assert codec.decode(b"\x08\x05").a == 5
    with pytest.raises(ProtobufSchemaError, match="uses an edition"):
        codec.decode_rows(binary(b""))


def test_message_of_a_file() -> None:
    assert message_of(file_of(MONEY), "Money").full_name == "shop.Money"


def test_values_of_many_schema_ids_in_one_batch() -> None:
    """Invalid values may look like any number of ids; previously, each caused a pass over all values."""
    codec, many = Protobuf(MONEY), 5_000
    values = binary(*(b"\0" + number.to_bytes(4) + b"\0" + codec.encode({"cents": number}) for number in range(many)))
    made = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal made
        made += 1

    sys.setprofile(count)
    try:
        column, bad = codec.decode_rows(values, framed=True)
    finally:
        sys.setprofile(None)
    assert (bad, [each["cents"] for each in column.to_pylist()]) == ([], list(range(many)))
    assert made < 20 * many
