"""Control characters in records do not reach a terminal; files and pipes get them unchanged."""

import json
import sys
from typing import Any

import pytest

from kafka.cli.command_output import Output
from kafka.cli.consume.formats import Style, text_format
from kafka.cli.consume.record_sink import open_sink
from kafka.cli.consume.selection import Piece
from kafka.cli.escapes import escaped_json, without_controls
from kafka.record import BatchBuilder, decode_batches

pytestmark = pytest.mark.once

EVIL = b"\x1b]52;c;ZXZpbA==\x07 \xc2\x9b31m \x9b \xe2\x80\xae\r"
SEEN = rb"\x1b]52;c;ZXZpbA==\x07 \x9b31m \x9b \u202e\r"
GOOD = "Grüße\t日本 👩‍🚀\n".encode()


def piece() -> Piece:
    builder = BatchBuilder(2, size_limit=1 << 20)
    builder.append(1000, EVIL, GOOD, [("h", EVIL)])
    return Piece(decode_batches(builder.build(), topic="t"), None, 1)


@pytest.mark.parametrize(
    ("name", "on_terminal", "elsewhere"),
    [
        ("text", SEEN + b"|" + GOOD + b"\x1b[0m", EVIL + b"|" + GOOD + b"\x1b[0m"),
        ("%k %s\\x1b[0m", SEEN + b" " + GOOD + b"\x1b[0m", EVIL + b" " + GOOD + b"\x1b[0m"),
        ("%h", b"h=" + SEEN, b"h=" + EVIL),
    ],
)
def test_only_a_terminal_gets_escapes(name: str, on_terminal: bytes, elsewhere: bytes) -> None:
    for terminal, expected in ((True, on_terminal), (False, elsewhere)):
        found = text_format(name, b"\x1b[0m", b"|", b"", None, Style(terminal))
        assert found.encode(piece()) == expected


@pytest.mark.parametrize("name", ["csv", "hex", "json", "raw", "full", "str", "lines"])
@pytest.mark.parametrize("encoding", [None, "latin-1"])
def test_no_format_writes_control_characters_to_a_terminal(name: str, encoding: str | None) -> None:
    text = text_format(name, b"\n", b"|", b"", encoding, Style(terminal=True)).encode(piece()).decode()
    assert without_controls(text) == text


def test_json_is_the_same_value_without_raw_control_characters() -> None:
    text = "\x7f\x80\x9b\u202e\u2028 ü 👩‍🚀"
    written = escaped_json(json.dumps(text, ensure_ascii=False))
    assert json.loads(written) == text
    assert without_controls(written) == written
    assert "ü 👩‍🚀" in written
    line = text_format("json", b"", None, b"", None).encode(piece()).decode()
    assert without_controls(line) == line
    assert json.loads(line)["value"].encode() == GOOD


def test_json_output_of_commands_has_no_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    Output(as_json=True).data({"name": "\x9b31m\x7f"})
    assert capsys.readouterr().out == '{"name": "\\u009b31m\\u007f"}\n'


@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_is_detected_on_standard_output(
    terminal: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    expected = SEEN if terminal else EVIL
    for file, wanted in ((None, expected), (tmp_path / "out.txt", EVIL)):
        sink = open_sink("%k", file, False, b"", None, b"", None)
        assert sink._format is not None
        assert sink._format.encode(piece()) == wanted
