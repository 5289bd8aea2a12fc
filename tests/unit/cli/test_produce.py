"""`kafka produce` on the embedded broker, with input of every form."""

import csv
import json
import pathlib
import random
import sys
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kafka
from kafka import KafkaProducer
from kafka.cli.file_formats import endings
from kafka.cli.produce.lines import split
from kafka.cli.produce.sending import BadInputError
from unit.cli.cli_support import Cli

pytestmark = pytest.mark.once
MakeTopic = Callable[..., str]
SHOWN = ("-f", "%p|%T|%k|%s|%h\\n")


def test_lines_are_values_or_keys_and_values(cli: Cli, topic: MakeTopic) -> None:
    name = topic()
    told = cli.json("produce", name, "-K", "::", "-H", "a=1", "-k", "default", "--timestamp", "5", stdin="k::v\nonly\n")
    assert (told["records"], told["bytes"]) == (2, 6)
    assert cli("consume", name, *SHOWN) == "0|5|k|v|a=1\n0|5|default|only|a=1\n"


def test_lines_without_the_separator_are_counted(cli: Cli, topic: MakeTopic) -> None:
    result = cli.run("produce", topic(), "-K", ":", stdin="k:v\nnone\nno more\n")
    assert result.exit_code == 0
    assert "lines without the separator, sent as values without a key: 2\n" in result.stderr


def test_a_custom_delimiter_keeps_line_breaks(cli: Cli, topic: MakeTopic) -> None:
    name = topic()
    cli("produce", name, "-D", "\\0", stdin=b"a\nb\0c")
    assert cli("consume", name, "-D", "|") == "a\nb|c|"


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_lines_are_found_across_reads(tmp_path: pathlib.Path, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "lines"
    file.write_bytes(b"one\r\ntwo\r\n\r\nthree")
    monkeypatch.setattr("kafka.cli.produce.lines._CHUNK", size)
    with file.open("rb") as opened:
        assert [line for found in split(opened, b"\r\n") for line in found] == [b"one", b"two", b"", b"three"]


@pytest.mark.parametrize("delimiter", [b"\n", b"\r\n", b"aab", b"abab"])
def test_lines_are_split_the_same_in_pieces_of_any_size(
    tmp_path: pathlib.Path, delimiter: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(delimiter)
    for number in range(40):
        text = b"".join(rng.choice([b"a", b"b", b"", delimiter, delimiter[:1]]) for _ in range(rng.randrange(40)))
        (tmp_path / str(number)).write_bytes(text)
        *lines, rest = text.split(delimiter)
        for size in (1, 2, 3, 5, 100):
            monkeypatch.setattr("kafka.cli.produce.lines._CHUNK", size)
            with (tmp_path / str(number)).open("rb") as opened:
                found = [line for some in split(opened, delimiter) for line in some]
            assert found == lines + [rest] * bool(rest), (text, size)


def test_only_an_overlong_line_is_rejected(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafka.cli.produce.lines._CHUNK", 3)
    monkeypatch.setattr("kafka.cli.produce.lines._MOST", 10)
    for text, is_too_long in ((b"a" * 10 + b"\r\n" + b"b" * 10, False), (b"x\r\n" + b"a" * 11, True)):
        (tmp_path / "lines").write_bytes(text)
        with (tmp_path / "lines").open("rb") as opened:
            if is_too_long:
                with pytest.raises(BadInputError, match="longer than 1 GiB"):
                    list(split(opened, b"\r\n"))
            else:
                assert [len(line) for some in split(opened, b"\r\n") for line in some] == [10, 10]


def test_files_are_sent_one_after_the_other(cli: Cli, topic: MakeTopic, tmp_path: pathlib.Path) -> None:
    name = topic()
    for number in (1, 2):
        (tmp_path / f"{number}.txt").write_text(f"line {number}\n")
    cli("produce", name, str(tmp_path / "1.txt"), str(tmp_path / "2.txt"))
    cli("produce", "-t", name, str(tmp_path / "1.txt"))
    assert cli("consume", name) == "line 1\nline 2\nline 1\n"


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet", "arrow"])
def test_produce_reads_the_output_of_consume(cli: Cli, topic: MakeTopic, tmp_path: pathlib.Path, suffix: str) -> None:
    source, target = topic(2), topic(2, "-copy")
    documents = [
        {"key": f"k{i}", "value": f'"{i}", ä\n', "timestamp": 10 + i, "headers": [["h", f"{i}"]]} for i in range(20)
    ]
    cli("produce", source, "-f", "json", stdin="\n".join(map(json.dumps, documents)))
    cli("produce", source, "-D", "\\0", "--partition", "1", "-k", "bin", stdin=b"\xff\xfe")
    file = tmp_path / f"records.{suffix}"
    cli("consume", source, "-o", str(file))
    cli("produce", target, str(file), "--keep-partitions")
    assert sorted(cli("consume", target, *SHOWN)) == sorted(cli("consume", source, *SHOWN))
    assert cli("consume", target, "-p", "0", *SHOWN) == cli("consume", source, "-p", "0", *SHOWN)


EVERYTHING = [
    {"key": b"k", "value": b'"v", \xc3\xa4\n', "headers": [("h", b"x"), ("h", None), ("", b"")], "timestamp_ms": 10},
    {"key": b"gone", "value": None, "headers": [], "timestamp_ms": 20},
    {"key": None, "value": b"", "headers": [("bytes", b"\xff\xfe")], "timestamp_ms": 30, "partition": 1},
    {"key": b"", "value": b"\xff\xfe\0", "headers": [], "timestamp_ms": 0, "partition": 1},
    {"key": b"\x80", "value": b"null", "headers": [], "timestamp_ms": 40},
]


def records_of(cli: Cli, topic: str) -> list[tuple[Any, ...]]:
    found = kafka.read(topic, bootstrap_servers=cli.bootstrap_servers)
    return sorted((r.partition, r.offset, r.timestamp, str(r.key), str(r.value), str(r.headers)) for r in found)


@pytest.mark.slow
@pytest.mark.parametrize("ending", [each for each in endings() if each != ".txt"])
def test_files_preserve_whole_records(cli: Cli, topic: MakeTopic, tmp_path: pathlib.Path, ending: str) -> None:
    source, target, file = topic(2), topic(2, "-copy"), tmp_path / f"records{ending.upper()}"
    with KafkaProducer(bootstrap_servers=cli.bootstrap_servers) as producer:
        for record in EVERYTHING:
            producer.send(source, **record)
    null = ["--null", "\\N"] if ending == ".csv" else []
    cli("consume", source, "-o", str(file), *null)
    cli("produce", target, str(file), "--keep-partitions", *null)
    assert records_of(cli, target) == records_of(cli, source)


def test_text_files_preserve_keys_and_values(cli: Cli, topic: MakeTopic, tmp_path: pathlib.Path) -> None:
    source, target, file = topic(), topic(suffix="-copy"), tmp_path / "records.txt"
    cli("produce", source, "-K", ":", "--null", "NULL", stdin="k:v\ngone:NULL\n:x\n")
    cli("consume", source, "-o", str(file), "-K", ":", "--null", "NULL")
    cli("produce", target, str(file), "-K", ":", "--null", "NULL", "-f", "text")
    shown = ("-f", "%k=%s(%S)\\n")
    assert cli("consume", target, *shown) == cli("consume", source, *shown) == "k=v(1)\ngone=(-1)\n=x(1)\n"


def test_csv_reports_ambiguous_empty_fields(cli: Cli, topic: MakeTopic, tmp_path: pathlib.Path) -> None:
    name, file = topic(), tmp_path / "records.csv"
    cli("produce", name, "-k", "gone", "--null", "x", stdin="x\ny\n")
    assert "empty fields for 1 null values" in cli.run("consume", name, "-o", str(file)).stderr
    assert "empty fields" not in cli.run("consume", name, "-o", str(file), "--null", "x").stderr


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_a_missing_library_is_reported_before_opening_files(
    cli: Cli, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    file = tmp_path / f"y.{suffix}"
    file.write_text("of before")
    for module in ("pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, module, None)
    for command in (["consume", "t", "-o", str(file)], ["produce", "t", str(file)]):
        told = cli.run("-b", "localhost:1", *command)
        assert told.exit_code == 1
        assert told.stderr == (
            "Error: this command needs 'pyarrow', which is not installed; install it with: "
            "pip install 'kafka-columnar[arrow]'\n"
        )
    assert file.read_text() == "of before"


def test_nothing_is_read_if_the_file_cannot_be_written(cli: Cli, topic: MakeTopic, tmp_path: pathlib.Path) -> None:
    told = cli.fails("consume", topic(), "-g", "readers", "-o", str(tmp_path / "no" / "x.csv"), status=2)
    assert told.endswith(f"the directory {tmp_path / 'no'} does not exist")


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet", "arrow"])
@pytest.mark.parametrize("value", [b"of a file of Windows\r", b"\r", b"a\rb", b"\r\n", b"\0", b'"', b"\\"])
def test_every_control_character_round_trips(
    cli: Cli, topic: MakeTopic, tmp_path: pathlib.Path, suffix: str, value: bytes
) -> None:
    source, target, file = topic(), topic(suffix="-copy"), tmp_path / f"records.{suffix}"
    cli("produce", source, "-D", "\\xff", stdin=value + b"\xffnext\xff")
    cli("consume", source, "-o", str(file))
    cli("produce", target, str(file))
    assert cli.run("consume", target, "-D", "\\xff").stdout_bytes == value + b"\xffnext\xff"


def test_headers_that_are_not_utf_8_round_trip_in_csv(cli: Cli, topic: MakeTopic, tmp_path: pathlib.Path) -> None:
    source, target, file = topic(), topic(suffix="-copy"), tmp_path / "records.csv"
    with KafkaProducer(bootstrap_servers=cli.bootstrap_servers) as producer:
        producer.send(source, b"v", headers=[("h", b"\xff\xc3\xa4\x80")])
    cli("consume", source, "-o", str(file))
    assert '[[""h"", ""\\udcff\u00e4\\udc80""]]' in file.read_text("utf-8")
    cli("produce", target, str(file))
    assert cli.run("consume", target, "-f", "%h").stdout_bytes == b"h=\xff\xc3\xa4\x80"


def test_csv_may_have_long_fields(cli: Cli, topic: MakeTopic) -> None:
    name, limit = topic(), csv.field_size_limit()
    cli("produce", name, "-f", "csv", stdin="value\n" + "x" * 200_000 + "\n")
    assert cli("consume", name) == "x" * 200_000 + "\n"
    assert csv.field_size_limit() == limit  # the limit applies to the whole process


def test_rows_of_any_table_become_json_with_a_key_column(cli: Cli, topic: MakeTopic, tmp_path: pathlib.Path) -> None:
    name = topic()
    table = pa.table({"id": [1, 2], "when": pa.array([0, 1], pa.timestamp("s")), "blob": [b"x", None]})
    pq.write_table(table, tmp_path / "t.parquet")
    cli("produce", name, str(tmp_path / "t.parquet"), "--key-column", "id")
    cli("produce", name, "-f", "csv", "--key-column", "id", stdin="id,name\n3,ä\n")
    keys, values = zip(*(line.split("=", 1) for line in cli("consume", name, "-K", "=").splitlines()), strict=True)
    assert keys == ("1", "2", "3")
    assert json.loads(values[0]) == {"id": 1, "when": "1970-01-01 00:00:00", "blob": "x"}
    assert json.loads(values[2]) == {"id": "3", "name": "ä"}


def test_json_values_may_have_any_type(cli: Cli, topic: MakeTopic) -> None:
    name = topic()
    cli("produce", name, "-f", "json", stdin='{"value": {"a": [1, null]}}\n\n{"key": 5, "value": null}\n')
    assert cli("consume", name, "-K", "=", "--null", "-") == '-={"a": [1, null]}\n5=-\n'


@pytest.mark.parametrize(
    ("options", "stdin", "said"),
    [
        (["-f", "json"], '{"value": 1}\n[]\n', "line 2 is not a record: expected an object, got list"),
        (["-f", "json"], '{"val": 1}\n', "expected an object with 'value'"),
        (
            ["-f", "json"],
            "{\n",
            ": Expecting property name enclosed in double quotes at column 2",
        ),
        (["-f", "json"], '{"value_base64": "*"}\n', "line 1 is not a record"),
        (["-f", "csv"], "a,b\n1\n", "line 2 does not have 2 fields"),
        (["-f", "csv", "--key-column", "c"], "a,b\n1,2\n", "the columns are a, b"),
        (["-f", "csv"], "key,value,headers\na,b,[1]\n", "not a CSV file of records"),
        (["-f", "csv"], 'value,headers\nb,"[[1,2]]"\n', "expected headers as pairs of strings in JSON, got [[1,2]]"),
        (["-f", "csv"], "value,headers\nb,{}\n", "expected headers as pairs of strings"),
        (["-f", "csv"], f"value,headers\nb,{'[' * 100_000}\n", "not a CSV file of records"),
        (["-f", "json"], '{"value": ' + "[" * 100_000 + "]" * 100_000 + "}", "line 1 is not a record"),
        (["-f", "csv"], "key,value,timestamp\na,b,soon\n", "not a CSV file of records"),
        (["-f", "json"], '{"value": 1, "timestamp": "soon"}\n', "line 1 is not a record"),
        (["-f", "json"], '{"value": 1, "headers": [1]}\n', "expected headers as objects"),
        (["--encoding", "ascii"], "ä", "cannot encode a line in ascii"),
        (["-H", "h"], "x", "NAME=VALUE"),
        (
            ["-f", "json", "--key-column", "id"],
            "{}",
            "--key-column applies to the formats csv, parquet, arrow; ",
        ),
        (
            ["--keep-partitions"],
            "x",
            "--keep-partitions applies to the formats json, csv, parquet, arrow; ",
        ),
        (["-f", "csv", "-K", ":"], "x", "--key-separator applies to the formats "),
        (
            ["-f", "json"],
            '{"value": "ä"}'.encode("utf-16"),
            "expected JSON in UTF-8, found UTF-16: convert it to UTF-8",
        ),
        (["-f", "json"], '{"value": "ä"}'.encode("latin-1"), "line 1 is not text in UTF-8: convert it to UTF-8"),
        (["-f", "csv"], "a,b\n1,ä\n".encode("utf-16"), "expected text in UTF-8, found UTF-16: convert it to UTF-8"),
        (["-f", "csv"], "a,b\n1,ä\n".encode("latin-1"), "line 2 is not text in UTF-8: convert it to UTF-8"),
        (["-D", ""], "x", "at least one character"),
        (["--encoding", "klingon"], "x", "klingon"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else each[:40],
)
def test_invalid_input_is_named(cli: Cli, topic: MakeTopic, options: list[str], stdin: str | bytes, said: str) -> None:
    result = cli.run("produce", topic(), *options, stdin=stdin)
    assert result.exit_code == 2
    assert said in result.stderr


def test_a_byte_order_mark_is_not_part_of_the_first_column(cli: Cli, topic: MakeTopic) -> None:
    name = topic()
    cli("produce", name, "-f", "csv", "--key-column", "id", stdin="id,name\n1,ä\n".encode("utf-8-sig"))
    assert cli("consume", name, "-K", "=") == '1={"id": "1", "name": "ä"}\n'


def test_lines_in_utf_16_are_sent_with_a_note(cli: Cli, topic: MakeTopic) -> None:
    result = cli.run("produce", topic(), stdin="a\nb\n".encode("utf-16"))
    assert result.exit_code == 0
    assert "the input looks like UTF-16, but its bytes are sent unchanged; convert it to UTF-8" in result.stderr


@pytest.mark.parametrize(
    ("options", "texts", "said"),
    [
        (["-f", "json"], ['{"value": 1}\n', '{"value": 2}\n{\n'], "line 2 is not a record: "),
        (["--value", "int"], ["1\n2\n", "x\n"], "record 1: the value cannot be sent: "),
        (["-f", "csv", "--key-column", "id"], ["id\n1\n", "name\n1\n"], "there is no key column 'id'"),
    ],
    ids=["json", "lines", "csv"],
)
def test_errors_in_files_begin_with_the_name_of_the_file(
    cli: Cli, topic: MakeTopic, tmp_path: pathlib.Path, options: list[str], texts: list[str], said: str
) -> None:
    files = [tmp_path / "first", tmp_path / "second"]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text, encoding="utf-8")
    error = cli.fails("produce", topic(), *map(str, files), *options, status=2)
    assert error.startswith(f"Error: {files[1]}: {said}")


def test_an_error_of_standard_input_names_it(cli: Cli, topic: MakeTopic, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(*_: object) -> None:
        raise OSError(9, "Bad file descriptor")

    monkeypatch.setattr("kafka.cli.produce.lines.chunks", read)
    assert cli.fails("produce", topic()) == "Error: standard input: Bad file descriptor"


def test_missing_topics_and_files_are_wrong_use(cli: Cli) -> None:
    assert "expected one topic" in cli.fails("produce", status=2)
    assert "/no/such" in cli.fails("produce", "x", "/no/such", status=2)


def test_a_record_that_fails_fails_the_command(cli: Cli, topic: MakeTopic) -> None:
    result = cli.run("produce", topic(), "-X", "max_request_size=500", stdin="x" * 600)
    assert result.exit_code == 1
    assert "MessageSizeTooLargeError" in result.stderr


def test_arrow_rows_that_are_not_records_are_reported(cli: Cli, topic: MakeTopic, tmp_path: pathlib.Path) -> None:
    pq.write_table(pa.table({"value": [1.5]}), tmp_path / "t.parquet")
    result = cli.run("produce", topic(), str(tmp_path / "t.parquet"))
    assert result.exit_code == 2
    assert "these rows are not records" in result.stderr
    (tmp_path / "no.parquet").write_text("no")
    assert cli.run("produce", topic(), str(tmp_path / "no.parquet")).exit_code == 2
