"""JSON values in the JSON that `kafka consume` writes, its colours, and `--tee`."""

import json
import pathlib
import random
import sys
from collections.abc import Callable
from typing import Any

import pyarrow.parquet as pq
import pytest

from kafka.cli.consume.formats import Style, json_lines
from kafka.cli.json_text import colored, embeddable, members, pretty
from kafka.record import ConsumerRecord
from unit.cli.cli_support import Cli

pytestmark = pytest.mark.once
MakeTopic = Callable[..., str]
NESTED = ['{"a": 1.50, "b":[ ]}', "[1,2]", '{"x":"\\u00e9é","x":2}', "{}", '{"n":12345678901234567890.10}']
TEXTS = ["text", "42", "true", "null", '"quoted"', "{", "{a}", '{"a":NaN}', "[1,]", " {}", "", "[" * 500 + "]" * 500]
LINES = ['{\n "a": [1,\r\n2]\n}', '{"c": "\x9b31m\u202e"}']


def test_objects_and_arrays_are_nested_with_each_character(cli: Cli, topic: MakeTopic) -> None:
    name = topic()
    cli("produce", name, "-D", "|", stdin="|".join([*NESTED, *TEXTS]))
    lines = cli("consume", name, "--json").splitlines()
    assert [members(line)["value"] for line in lines[: len(NESTED)]] == NESTED
    assert [json.loads(line)["value"] for line in lines[len(NESTED) :]] == TEXTS
    as_text = cli("consume", name, "--json", "--as-text").splitlines()
    assert [json.loads(line)["value"] for line in as_text] == [*NESTED, *TEXTS]


def test_line_breaks_and_control_characters_are_cleaned_unless_a_file_must_be_exact(
    cli: Cli, topic: MakeTopic, tmp_path: pathlib.Path
) -> None:
    name, file = topic(), tmp_path / "out.jsonl"
    cli("produce", name, "-D", "|", stdin="|".join(LINES))
    first, second = cli("consume", name, "--json").splitlines()
    assert json.loads(first)["value"] == {"a": [1, 2]}
    assert "\\u009b31m\\u202e" in second
    cli("consume", name, "-o", str(file))
    assert [json.loads(line)["value"] for line in file.read_text().splitlines()] == LINES


def test_a_file_of_json_gives_the_same_bytes_again(cli: Cli, topic: MakeTopic, tmp_path: pathlib.Path) -> None:
    name, file, seed = topic(), tmp_path / "out.jsonl", random.Random(7)
    values = [*NESTED, *TEXTS, *LINES, "\ufeff{}", '{"a": "|"}'.replace("|", "\x00")]
    values += ["".join(seed.choice('{}[]",:1.e \n\\ué') for _ in range(seed.randrange(9))) for _ in range(100)]
    records = [{"key": value, "value": value} for value in values]
    cli("produce", name, "-f", "json", stdin="\n".join(map(json.dumps, records)))
    cli("consume", name, "-o", str(file))
    again = topic()
    cli("produce", again, str(file))
    shown = ("-f", "%K %k %S %s|")
    assert cli("consume", again, *shown) == cli("consume", name, *shown)


def test_typed_json_keeps_its_numbers(cli: Cli, topic: MakeTopic) -> None:
    name = topic()
    cli("produce", name, stdin='{"a": 10.50}\n')
    assert '"value":{"a": 10.50},' in cli("consume", name, "--value", "json", "--json", "--as-text")


def record(value: bytes) -> Any:
    return ConsumerRecord("t", 0, None, 5, 1000, 0, None, value, [("h", b"[1]")], None, 0, 0, 0)


def test_a_terminal_gets_indented_json_in_colours() -> None:
    line = json_lines(Style(terminal=True, colors=True))(record(b'{"a":[],"b":{"c":"d"},"n":1}')).decode()
    assert '\x1b[34m"c"\x1b[0m: \x1b[32m"d"\x1b[0m' in line
    assert '\x1b[34m"a"\x1b[0m: []' in line
    plain = json_lines(Style(terminal=True))(record(b'{"a":[],"b":{"c":"d"}}')).decode()
    assert "\x1b" not in plain
    assert '    "c": "d"' in plain
    assert json.loads(plain)["headers"] == [{"key": "h", "value": "[1]"}]
    assert pretty('[{},1,"a:,"]', False) == '[\n  {},\n  1,\n  "a:,"\n]'
    assert colored("[null,true]") == "[\x1b[90mnull\x1b[0m,\x1b[33mtrue\x1b[0m]"


@pytest.mark.parametrize(
    ("options", "env", "has_colors"),
    [
        ([], {}, False),
        (["--color", "always"], {"NO_COLOR": "1"}, True),
        (["--color", "never"], {}, False),
        (["--color", "auto"], {}, False),
    ],
)
def test_pipes_have_colours_on_request(
    cli: Cli, topic: MakeTopic, options: list[str], env: dict[str, str | None], has_colors: bool
) -> None:
    name = topic()
    cli("produce", name, stdin='{"a":1}\nb\n')
    for more in ([], ["--json"]):
        found = cli.run("consume", name, *options, *more, env=env).stdout
        assert ("\x1b[34m" in found) == has_colors
        assert len(found.splitlines()) == 2


@pytest.mark.parametrize(("env", "has_colors"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_terminals_have_colours_unless_the_environment_says_otherwise(
    env: dict[str, str], has_colors: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from kafka.cli.command_output import Output

    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    Output(as_json=True).data({"a": 1})
    assert ("\x1b" in capsys.readouterr().out) == has_colors


def test_tee_writes_records_to_a_file_too(cli: Cli, topic: MakeTopic, tmp_path: pathlib.Path) -> None:
    name, lines, table = topic(), tmp_path / "out.jsonl", tmp_path / "out.parquet"
    cli("produce", name, stdin="a\nb\nc\n")
    assert cli("consume", name, "--tee", str(lines), "--grep", "[bc]") == "b\nc\n"
    assert [json.loads(line)["value"] for line in lines.read_text().splitlines()] == ["b", "c"]
    assert cli("consume", name, "--tee", str(table), "-n", "2") == "a\nb\n"
    assert pq.read_table(table)["value"].to_pylist() == [b"a", b"b"]
    assert "mutually exclusive" in cli.fails("consume", name, "--tee", str(lines), "-o", str(table), status=2)
    assert "does not exist" in cli.fails("consume", name, "--tee", str(tmp_path / "no" / "x"), status=2)


def test_only_json_objects_and_arrays_are_nested() -> None:
    assert [embeddable(each.encode()) for each in NESTED] == NESTED
    assert [embeddable(each.encode()) for each in TEXTS] == [None] * len(TEXTS)
    assert embeddable(b'{"a":"\xff"}') is None
    assert embeddable(b"[" * 100 + b"]" * 100) is not None
