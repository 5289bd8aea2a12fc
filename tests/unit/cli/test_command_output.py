"""The output of commands, for people and for programs."""

import datetime

import pytest

from kafka.cli.command_output import Output, aligned, jsonable
from kafka.display import size_text
from kafka.errors import UnknownTopicOrPartitionError
from kafka.structs import TopicPartition

pytestmark = pytest.mark.once
ROWS = [{"topic": "a", "records": 12345, "bytes": 2048, "isr": [1, 2]}, {"topic": "b\tc", "records": None, "bytes": 0}]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Output:
    """Output to a terminal."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    return Output(as_json=False)


def test_a_terminal_gets_a_table_with_units(terminal: Output, capsys: pytest.CaptureFixture[str]) -> None:
    terminal.table(ROWS, ["topic", "records", "bytes", "isr"])
    terminal.title("title")
    titles, *rows, title = capsys.readouterr().out.splitlines()
    assert (titles, title) == ("\x1b[1mTOPIC  RECORDS    BYTES  ISR\x1b[0m", "\x1b[1mtitle\x1b[0m")
    assert rows == ["a       12,345  2.0 KiB  1,2", "b c          -      0 B  -"]


@pytest.mark.usefixtures("terminal")
def test_json_on_a_terminal_has_no_titles(capsys: pytest.CaptureFixture[str]) -> None:
    Output(as_json=True).title("title")
    assert capsys.readouterr().out == ""


def test_no_color_is_respected(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")
    output = Output(as_json=False)
    output.table(ROWS, ["topic"])
    output.fields({"one_thing": 1})
    output.title("title")
    assert capsys.readouterr().out == "TOPIC\na\nb c\none thing  1\ntitle\n"


def test_other_programs_get_tabs_or_json(capsys: pytest.CaptureFixture[str]) -> None:
    Output(as_json=False).table(ROWS, ["topic", "records", "isr"])
    Output(as_json=False, titles=False).table(ROWS, ["topic"])
    Output(as_json=True).table(ROWS, ["topic"])
    Output(as_json=True).done("done", {"a": 1})
    for as_json in (False, True):
        Output(as_json).title("a title is for people")
    lines = capsys.readouterr().out.splitlines()
    assert lines[:5] == ["topic\trecords\tisr", "a\t12345\t1,2", "b c\t\t", "a", "b c"]
    assert lines[5].startswith('[{"topic": "a", "records": 12345')
    assert lines[6:] == ['{"a": 1}']


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({TopicPartition("t", 0): UnknownTopicOrPartitionError}, {"t-0": "UnknownTopicOrPartitionError"}),
        (TopicPartition("t", 0), {"topic": "t", "partition": 0}),
        (b"\xff", "\\xff"),
        (datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC), "2026-01-01T00:00:00+00:00"),
        ({1}, [1]),
        (ValueError("x"), "ValueError: x"),
    ],
)
def test_any_value_converts_to_json(value: object, expected: object) -> None:
    assert jsonable(value) == expected


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1023.9, "1.0 KiB"),
        (1536, "1.5 KiB"),
        (1023.6 * 1024, "1023.6 KiB"),
        (-2048, "-2.0 KiB"),
        ((1 << 20) - 1, "1.0 MiB"),
        ((1 << 40) - 1, "1.0 TiB"),
        (5 << 40, "5.0 TiB"),
    ],
)
def test_sizes_have_units(count: int, text: str) -> None:
    assert size_text(count) == text


def test_cells_are_aligned_for_characters_of_any_width() -> None:
    rows = [["topic", "n"], ["你好", "1"], ["e\u0301te\u0301", "22"]]
    assert aligned(rows, [False, True]) == ["topic   n", "你好    1", "e\u0301te\u0301    22"]
