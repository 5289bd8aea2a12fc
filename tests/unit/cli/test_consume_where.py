"""`kafka consume --where`, and fields of JSON values in templates."""

import json
import pathlib
from collections.abc import Callable

import pytest

from unit.cli.cli_support import Cli

pytestmark = pytest.mark.once
MakeTopic = Callable[..., str]
VALUES = [
    '{"id": 1, "status": "PAID", "amount": 10.50, "items": [{"sku": "a-1"}]}',
    '{"id": 2, "status": "NEW", "amount": 90, "items": []}',
    '{"id": 3, "status": "PAID", "amount": 3}',
    "not json",
]


@pytest.fixture
def orders(cli: Cli, topic: MakeTopic) -> str:
    """A topic with four records: keys 1 to 4, one second apart, three of them JSON."""
    name = topic()
    lines = [
        json.dumps(
            {"key": str(i + 1), "value": value, "timestamp": 1_700_000_000_000 + 1000 * i, "headers": {"n": f"{i}"}}
        )
        for i, value in enumerate(VALUES)
    ]
    cli("produce", name, "-f", "json", stdin="\n".join(lines))
    return name


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("value.status = 'PAID' and value.amount > 10", [0]),
        ("value.status = 'PAID'", [0, 2]),
        ("value.status != 'PAID'", [1]),
        ("not value.status = 'PAID' or value.status is null", [1, 3]),
        ("value.items[0].sku like 'a%'", [0]),
        ("key > 2 and headers.n < 3", [2]),
        ("value matches '^not'", [3]),
        ("timestamp >= '2023-11-14T22:13:22Z' and offset < 3 and partition = 0 and size > 20", [2]),
    ],
)
def test_records_are_selected_by_an_expression(cli: Cli, orders: str, expression: str, expected: list[int]) -> None:
    assert cli("consume", orders, "--where", expression).splitlines() == [VALUES[i] for i in expected]
    found = cli("consume", orders, "-w", expression, "--json").splitlines()
    assert [json.loads(line)["offset"] for line in found] == expected


def test_other_filters_and_limits_apply_too(cli: Cli, orders: str) -> None:
    assert cli("consume", orders, "-w", "value.amount > 1", "--key", "3", "-f", "%o") == "2"
    assert cli("consume", orders, "-w", "value.amount > 1", "-n", "2", "-f", "%o") == "01"
    assert cli("consume", orders, "-w", "value.amount > 1", "--grep", "NEW", "-f", "%o") == "1"


def test_a_mistake_is_shown_with_a_caret(cli: Cli, orders: str) -> None:
    result = cli.run("consume", orders, "--where", "value.amount >> 5")
    assert result.exit_code == 2
    *_, message, shown, caret = result.stderr.splitlines()
    assert message.startswith("Error: --where: expected a field")
    assert shown[caret.index("^") :] == "> 5"


def test_a_search_without_a_result_names_similar_fields(cli: Cli, orders: str) -> None:
    result = cli.run("consume", orders, "-w", "value.amont > 1 and headers.m = '1'", "--to", "3")
    first, *hints = result.stderr.splitlines()
    assert first.startswith("0 of 3 records matched")
    assert hints == [
        "the last record: no value.amont; did you mean value.amount?",
        "the last record: no header 'm'; it has headers.n",
    ]
    assert "the value is not JSON" in cli.run("consume", orders, "-w", "value.b = 1").stderr
    result = cli.run("consume", orders, "-w", "value.id.x = 1 or value.items[3] = 1 or value.q = 1", "--to", "2")
    assert [line.partition(": ")[2] for line in result.stderr.splitlines()[1:]] == [
        "no value.id.x: value.id is not an object",
        "no value.items[3]",
        "no value.q; it has value.id, value.status, value.amount, value.items",
    ]


@pytest.mark.parametrize(
    ("expression", "hint"),
    [
        (
            "value.amount < 'x'",
            "value.amount is the number 3, which is not compared with the text 'x'; write a number, without quotes",
        ),
        (
            "'5' >= value.amount",
            "value.amount is the number 3, which is not compared with the text '5'; write 5 without quotes",
        ),
        (
            "value.status = 7",
            "value.status is the text 'PAID', which is not compared with the number 7; write '7' in quotes",
        ),
        (
            "offset = 9 or value.status in (1, 'x')",
            "value.status is the text 'PAID', which is not compared with the number 1; write '1' in quotes",
        ),
        ("value.amount like '%'", "value.amount is the number 3; like and matches compare only text"),
        (
            "value.id = value.status",
            "value.id is the number 3, but value.status is the text 'PAID'; only values of one type are compared",
        ),
    ],
)
def test_a_search_that_compares_different_types_says_so(cli: Cli, topic: MakeTopic, expression: str, hint: str) -> None:
    name = topic()
    lines = [json.dumps({"key": "1", "value": value}) for value in (VALUES[2], None)]  # a tombstone has no types
    cli("produce", name, "-f", "json", stdin="\n".join(lines))
    result = cli.run("consume", name, "-w", expression)
    assert result.stderr.startswith("0 of 2 records matched")
    assert result.stderr.splitlines()[1:] == [f"the last record: {hint}"]


def test_typed_keys_and_values_are_compared_by_type(cli: Cli, topic: MakeTopic, tmp_path: pathlib.Path) -> None:
    name, schema = topic(), tmp_path / "order.avsc"
    fields = [{"name": "note", "type": ["null", "string"]}, {"name": "amount", "type": "double"}]
    schema.write_text(json.dumps({"type": "record", "name": "Order", "fields": fields}))
    options = ("--value", "avro", "--value-schema", str(schema), "--key-format", "long")
    cli("produce", name, "-K", "|", *options, stdin='7|{"note": "a", "amount": 0.1}\n8|{"note": null, "amount": 2}\n')
    found = ("consume", name, *options, "-f", "%k %{value.amount}\\n", "-w")
    assert cli(*found, "value.amount = 0.1 and key = 7") == "7 0.1\n"
    assert cli(*found, "value.note is null and size = 17") == "8 2.0\n"
    assert cli("consume", name, "--key-format", "long", "-f", "%{key}", "-w", "key > 7") == "8"
    cli("produce", name, "--value", "json", "-p", "0", stdin='"PAID"\n')
    assert cli("consume", name, "--value", "json", "--skip-bad", "-f", "%{value}", "-w", "value = 'PAID'") == "PAID"


def test_templates_contain_fields_of_json_values(cli: Cli, orders: str) -> None:
    line = "%{offset}:%{value.status}:%{value.amount}:%{value.items}:%{value['items'][0].sku}:%{headers.n}:%{topic}\\n"
    assert cli("consume", orders, "-f", line).splitlines() == [
        f'0:PAID:10.50:[{{"sku":"a-1"}}]:a-1:0:{orders}',
        f"1:NEW:90:[]::1:{orders}",
        f"2:PAID:3:::2:{orders}",
        f"3:::::3:{orders}",
    ]
    assert cli("consume", orders, "-n", "1", "-f", "%{key}%%{x}%{value['a}b']}|") == "1%{x}|"
    assert "did you mean 'value'?" in cli.run("consume", orders, "-f", "%{valu.x}").stderr
    assert "%{value.name}" in cli.fails("consume", orders, "-f", "%q", status=2)
