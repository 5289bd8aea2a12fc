"""`kafka consume` on the embedded broker: selection of records, and output formats."""

import csv
import gc
import io
import json
import pathlib
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kafka import KafkaConsumer
from kafka.cli.consume import source as reading
from kafka.consumer.bounds import SKIP_ADVICE
from kafka.errors import OffsetOutOfRangeError
from kafka.record import Columns, decode_batches
from unit.cli.cli_support import Cli

pytestmark = pytest.mark.once
MakeTopic = Callable[..., str]


@pytest.fixture
def filled(cli: Cli, topic: MakeTopic) -> str:
    """A topic with ten records in one partition: keys k0 to k9, one second apart."""
    name = topic()
    lines = [
        json.dumps(
            {"key": f"k{i}", "value": f"v{i}", "timestamp": 1_700_000_000_000 + 1000 * i, "headers": {"n": str(i)}}
        )
        for i in range(10)
    ]
    cli("produce", name, "-f", "json", stdin="\n".join(lines))
    return name


def values(*numbers: int) -> str:
    """Return the expected output for these values."""
    return "".join(f"v{i}\n" for i in numbers)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], range(10)),
        (["--from", "7"], (7, 8, 9)),
        (["--offset", "earliest", "--to", "2"], (0, 1)),
        (["--from", "@1700000006500"], (7, 8, 9)),
        (["--from", "2023-11-14T22:13:28+00:00"], (8, 9)),
        (["--from", "latest"], ()),
        (["--to", "@1700000002000"], (0, 1)),
        (["--from", "1h"], ()),
        (["--last", "2"], (8, 9)),
        (["-n", "3"], (0, 1, 2)),
        (["-p", "0", "-n", "1"], (0,)),
        (["--key", "k3", "--key", "k5"], (3, 5)),
        (["--key-regex", "^k[89]$"], (8, 9)),
        (["--header", "n"], range(10)),
        (["--header", "n=4"], (4,)),
        (["--header", "m"], ()),
        (["--grep", "v[12]"], (1, 2)),
        (["--grep", "v", "-n", "2", "--from", "5"], (5, 6)),
        (["--follow", "--from", "8", "--idle-timeout", "0"], (8, 9)),
        (["--follow", "--last", "1", "-n", "1"], (9,)),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
def test_requested_records_are_read(cli: Cli, filled: str, options: list[str], expected: list[int]) -> None:
    assert cli("consume", filled, *options) == values(*expected)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["-K", "\\t"], "k0\tv0\n"),
        (["-D", "\\x00"], "v0\0"),
        (["-f", "hex", "-K", ":"], "6b30:7630\n"),
        (["-f", "%t %p %o %T %K:%k %S:%s %h%%\\n"], "TOPIC 0 0 1700000000000 2:k0 2:v0 n=0%\n"),
        (["-f", "str"], "v0\n"),
        (["-f", "raw"], "b'v0'\n"),
        (["--encoding", "utf-16"], "b'\\xe3\\x81\\xb6'"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
def test_text_has_the_requested_form(cli: Cli, filled: str, options: list[str], expected: str) -> None:
    if options[0] == "--encoding":
        expected = b"v0".decode("utf-16") + "\n"
    assert cli("consume", filled, "-n", "1", *options) == expected.replace("TOPIC", filled)


def test_milliseconds_mistaken_for_an_offset_are_reported(cli: Cli, filled: str) -> None:
    asked = cli.run("consume", filled, "--from", "1700000006500")
    assert (asked.stdout, asked.exit_code) == ("", 0)
    assert asked.stderr.endswith("to give milliseconds, write @1700000006500\n")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], ""),
        (["--last", "2"], ""),
        (["--grep", "v3"], ""),
        (["--grep", "nonesuch"], "0 of 10 records matched; searched offsets of {0}:0 from 0 to 10\n"),
        (
            ["--key", "k1", "--from", "2", "--to", "5"],
            "0 of 3 records matched; searched offsets of {0}:0 from 2 to 5\n",
        ),
        (["--key", "k1", "--follow", "--from", "2", "--idle-timeout", "0"], ""),
        (["--from", "99"], "no records found; searched offsets of {0}:0 from 10 to 10\n"),
        (["--to", "2001-01-01"], "no records found; searched offsets of {0}:0 from 0 to 0\n"),
        (["--from", "3", "--to", "3"], "no records found; searched offsets of {0}:0 from 3 to 3\n"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
def test_a_search_without_results_reports_the_searched_range(
    cli: Cli, filled: str, options: list[str], said: str
) -> None:
    assert cli.run("consume", filled, *options).stderr == said.format(filled)


def test_a_search_of_many_partitions_names_the_first_three(cli: Cli, topic: MakeTopic) -> None:
    name = topic(5)
    places = ", ".join(f"{name}:{number} from 0 to 0" for number in range(3))
    expected = f"0 of 0 records matched; searched offsets of {places} and 2 more partitions\n"
    assert cli.run("consume", name, "--grep", "x").stderr == expected


def test_the_limit_applies_to_all_partitions_together(cli: Cli, topic: MakeTopic) -> None:
    name = topic(2)
    for number in ("0", "1"):
        cli("produce", name, "-p", number, stdin="x\n")
    assert cli("consume", name, "-n", "2") == "x\nx\n"


def test_single_partitions_can_be_read(cli: Cli, topic: MakeTopic) -> None:
    name = topic(3)
    for number in ("0", "1", "2"):
        cli("produce", name, "-p", number, stdin=f"{number}\n")
    assert sorted(cli("consume", name, "-p", "0", "-p", "2").split()) == ["0", "2"]
    assert cli("consume", name, "-p", "1") == "1\n"
    assert "expected a whole number of 0 or more, got '-1'" in cli.fails("consume", name, "-p", "-1", status=2)


def test_the_number_of_records_in_a_file_is_reported(cli: Cli, filled: str, tmp_path: pathlib.Path) -> None:
    told = [cli.run("consume", filled, *more, "-o", str(tmp_path / "f.txt")).stderr for more in ([], ["--key", "no"])]
    assert [each.splitlines()[-1].partition(" records in ")[0] for each in told] == ["10", "0"]


def test_a_progress_bar_ends_its_line(cli: Cli, filled: str, tmp_path: pathlib.Path) -> None:
    result = cli.run("consume", filled, "--progress", "-o", str(tmp_path / "f.txt"))
    assert f"\r[{'#' * 30}] 100% of 10 offsets\n" in result.stderr


def test_a_whole_record_as_kafka_python_shows_it(cli: Cli, filled: str) -> None:
    assert cli("consume", "-t", filled, "-n", "1", "-f", "full").startswith("ConsumerRecord(topic=")


def test_null_is_distinguished_on_request(cli: Cli, topic: MakeTopic) -> None:
    name = topic()
    cli("produce", name, "-K", ":", "--null", "", stdin="a:\n:b\nc\n")
    assert cli("consume", name, "-K", "=", "--null", "NULL") == "a=NULL\n=b\nNULL=c\n"
    assert cli("consume", name, "-K", "=", "--null", "NULL", "--grep", "") == "=b\nNULL=c\n"


def test_json_contains_whole_records_with_bytes_in_base64(cli: Cli, topic: MakeTopic) -> None:
    name = topic()
    cli("produce", name, "-H", "h=1", "-k", "key", "--timestamp", "17", stdin=b"\xff\x00\n\xc3\xa4\n")
    first, second = map(json.loads, cli("consume", name, "--json").splitlines())
    assert first == {
        "topic": name,
        "partition": 0,
        "offset": 0,
        "timestamp": 17,
        "key": "key",
        "value_base64": "/wA=",
        "headers": [{"key": "h", "value": "1"}],
    }
    assert second["value"] == "ä"


def test_the_file_name_determines_the_format(cli: Cli, filled: str, tmp_path: pathlib.Path) -> None:
    for suffix in ("csv", "jsonl", "parquet", "arrow", "txt"):
        cli("consume", filled, "-o", str(tmp_path / f"f.{suffix}"))
    rows = list(csv.DictReader(io.StringIO((tmp_path / "f.csv").read_text())))
    assert [row["value"] for row in rows] == [f"v{i}" for i in range(10)]
    assert rows[1]["headers"] == '[["n", "1"]]'
    assert len((tmp_path / "f.jsonl").read_text().splitlines()) == 10
    assert pq.read_table(tmp_path / "f.parquet")["key"].to_pylist() == [b"k%d" % i for i in range(10)]
    with pa.ipc.open_stream(tmp_path / "f.arrow") as stream:
        assert stream.read_all()["offset"].to_pylist() == list(range(10))
    assert (tmp_path / "f.txt").read_text() == values(*range(10))


def test_filters_apply_to_arrow_too(cli: Cli, filled: str, tmp_path: pathlib.Path) -> None:
    cli("consume", filled, "--key", "k3", "-o", str(tmp_path / "f.parquet"))
    assert pq.read_table(tmp_path / "f.parquet")["value"].to_pylist() == [b"v3"]


def test_csv_and_arrow_have_titles_without_a_record(cli: Cli, topic: MakeTopic, tmp_path: pathlib.Path) -> None:
    name = topic()
    assert cli("consume", name, "-f", "csv") == "topic,partition,offset,timestamp,key,value,headers\n"
    cli("consume", name, "-o", str(tmp_path / "f.parquet"))
    assert pq.read_table(tmp_path / "f.parquet").num_rows == 0


def test_a_group_resumes_after_the_records_written(cli: Cli, filled: str) -> None:
    arguments = ["consume", filled, "--group", filled]
    assert cli(*arguments, "-n", "3") == values(0, 1, 2)
    assert cli(*arguments, "-n", "2", "--key-regex", "[5-9]") == values(5, 6)
    assert cli(*arguments, "--idle-timeout", "0") == values(7, 8, 9)
    assert cli(*arguments, "--idle-timeout", "0") == ""


def test_a_new_group_starts_at_the_given_position(cli: Cli, filled: str) -> None:
    assert cli("consume", "-t", filled, "-g", f"{filled}-new", "--from", "latest", "--idle-timeout", "0") == ""
    latest = ("-X", "auto_offset_reset=latest")
    assert cli("consume", filled, "-g", f"{filled}-newer", *latest, "--idle-timeout", "0") == ""


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "at least one topic"),
        (["x", "--from", "yesterday"], "got 'yesterday'"),
        (["x", "--until", "now"], "got 'now'; did you mean 'latest'?"),
        (["x", "--from", "oldest"], "got 'oldest'; did you mean 'earliest'?"),
        (["x", "--to", "Latst"], "got 'Latst'; did you mean 'latest'?"),
        (["x", "--from", "2026-01-31T18:59", "--to", "2026-01-31T18:15"], "--from is after --to"),
        (["x", "--from", "15m", "--to", "1h"], "--from is after --to"),
        (["x", "--from", "5", "--to", "4"], "--from is after --to"),
        (["x", "--from", "@99999999999999999999"], "--from"),
        (["x", "--from", "99999999999999999999d"], "--from"),
        (["x", "--idle-timeout", "1e300"], "--idle-timeout': expected a duration such as 90s"),
        (["x", "--idle-timeout", "99999999999999999999d"], "--idle-timeout': expected a duration such as 90s"),
        (["x", "--from", "9999999999999999999999"], "an offset up to"),
        (["x", "--grep", "("], "unterminated"),
        (["x", "-f", "%q"], "%q is not a field"),
        (["x", "-D", "\\q"], "\\q is not an escape"),
        (["x", "-D", "\\xg0"], "\\x is not an escape"),
        (["x", "--encoding", "klingon"], "klingon"),
        (["x", "--follow", "--to", "5"], "--follow never ends"),
        (["x", "-g", "g", "--last", "5"], "--last and --group"),
        (["x", "-g", "g", "--from", "5"], "groups reset"),
        (["x", "-i", "me"], "requires --group"),
        (["x", "-n", "0"], "'-n'"),
        (["x", "-X", "auto_offset_reset=foo"], "option 'auto_offset_reset' expects one of 'latest', 'earliest'"),
        (["x", "-X", "compression_type=foo"], "option 'compression_type' expects"),
        (["x", "-X", "auto.offset.reset=latest"], "-X auto_offset_reset cannot be set for this command: use --from"),
        (["x", "-X", "group_id=g"], "-X group_id cannot be set for this command: use --group"),
        (["x", "-g", "g", "-X", "group_id=h"], "-X group_id cannot be set for this command: use --group"),
        (
            ["x", "-F", "-X", "enable_auto_commit=true"],
            "-X enable_auto_commit cannot be set for this command: with --group",
        ),
        (
            ["x", "--share-group", "g", "-X", "group_id=h"],
            "-X group_id cannot be set for this command: use --share-group",
        ),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
def test_wrong_use_exits_with_2(cli: Cli, options: list[str], said: str) -> None:
    assert said in cli.fails("consume", *options, status=2)


def test_a_missing_topic_is_named(cli: Cli) -> None:
    assert "no topic 'nowhere' to read; see 'kafka topics list'" in cli.fails("consume", "nowhere")


def test_an_unwritable_file_is_named(cli: Cli, filled: str) -> None:
    assert re.search("/no/such", cli.fails("consume", filled, "-o", "/no/such/file", status=2))


@pytest.mark.skipif(not pathlib.Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("form", ["text", "csv", "parquet", "arrow"])
def test_a_full_disk_is_a_one_line_error(cli: Cli, filled: str, form: str) -> None:
    said = cli.fails("consume", filled, "-f", form, "-o", "/dev/full")
    assert said.startswith("Error: /dev/full: ")
    assert "No space left on device" in said
    if form == "text":
        assert cli.fails("consume", filled, "--tee", "/dev/full") == said


@pytest.mark.skipif(not pathlib.Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk_within_a_parquet_file_is_a_one_line_error(
    cli: Cli, topic: MakeTopic, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kafka.cli.consume.arrow_formats._ROWS", 1)
    name = topic()
    cli("produce", name, stdin=random.Random(1).randbytes(300_000).replace(b"\n", b"") + b"\n")
    assert "No space left on device" in cli.fails("consume", name, "-f", "parquet", "-o", "/dev/full")
    gc.collect()


@pytest.mark.skipif(not pathlib.Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("form", ["text", "parquet", "arrow"])
def test_records_that_were_not_written_are_not_committed(cli: Cli, filled: str, form: str) -> None:
    arguments = ["consume", filled, "--group", filled, "-n", "10"]
    assert "No space left on device" in cli.fails(*arguments, "-f", form, "-o", "/dev/full")
    assert cli(*arguments) == values(*range(10))


def test_offsets_are_committed_once_a_parquet_file_is_complete(
    cli: Cli, filled: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commits: list[object] = []
    monkeypatch.setattr(reading, "_COMMIT_S", 0.0)
    monkeypatch.setattr(KafkaConsumer, "commit_async", lambda self, offsets: commits.append(offsets))
    arguments = ["consume", filled, "--group", filled, "-n", "4"]
    cli(*arguments, "-o", str(tmp_path / "f.parquet"))
    assert commits == []
    assert cli(*arguments) == values(4, 5, 6, 7)
    assert len(commits) == 1


def test_an_arrow_stream_can_be_read_while_it_grows(
    cli: Cli, filled: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, seen = tmp_path / "f.arrow", []

    def written(source: reading.Source, piece: object) -> None:
        with pa.ipc.open_stream(file) as stream:
            seen.append(stream.read_next_batch()["value"].to_pylist())

    monkeypatch.setattr(reading.Source, "written", written)
    cli("consume", filled, "-n", "2", "-o", str(file))
    assert seen == [[b"v0", b"v1"]]


class SlowConsumer:
    """A consumer that gets its first response after some polls; each poll takes a fifth of a second."""

    def __init__(self, answers_after: int, *polls: str) -> None:
        self.polls = 0
        self._left = answers_after
        self._polls = list(polls)

    def monotonic(self) -> float:
        return self.polls / 5

    def assignment(self) -> set[str]:
        return {"a partition"}

    def highwater(self, _: str) -> int | None:
        return 5 if self._left <= 0 else None

    def poll_columns(self, timeout_ms: float) -> dict[str, str]:
        assert timeout_ms == 200
        self.polls += 1
        self._left -= 1
        if self._left >= 0 or not self._polls:
            return {}
        return {"a partition": self._polls.pop(0)}


@pytest.mark.parametrize(
    ("answers_after", "idle_s", "given", "polls"),
    [
        (7, 0.0, ["x", "y"], 7 + 2 + 1),
        (7, 0.9, ["x", "y"], 7 + 2 + 5),
        (0, 0.9, [], 5),
        (10**6, 0.9, [], 149 + 5),  # unreachable brokers
    ],
)
def test_idle_time_starts_with_the_first_response(
    answers_after: int, idle_s: float, given: list[str], polls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    consumer = SlowConsumer(answers_after, *given)
    monkeypatch.setattr(reading, "time", consumer)
    assert list(reading._poll(consumer, idle_s, lambda: None)) == given
    assert consumer.polls == polls


def test_idle_time_starts_once_the_group_is_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    consumer = SlowConsumer(0)
    monkeypatch.setattr(reading, "time", consumer)
    assert list(reading._poll(consumer, 0.0, lambda: None, lambda: consumer.polls >= 9)) == []
    assert consumer.polls == 9 + 1


def test_records_deleted_meanwhile_are_reported_in_the_commands_terms() -> None:
    class Read:
        def columns(self) -> Iterator[Columns]:
            yield decode_batches(b"")
            raise OffsetOutOfRangeError(f"offsets 0 to 3 are gone{SKIP_ADVICE}")

    read: Any = Read()
    found = reading.Snapshot(read).columns()
    next(found)
    with pytest.raises(
        OffsetOutOfRangeError, match=r"offsets 0 to 3 are gone; run the command again to read the rest$"
    ):
        next(found)
