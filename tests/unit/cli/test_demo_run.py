"""The demo without Spark: it sends real records, and prepared results are checked and reported."""

import json
import pathlib
import signal
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner

import kafka
from kafka import KafkaProducer
from kafka.cli.commands import commands
from kafka.cli.demo import check, driver_processes, flights, run
from kafka.cli.demo.flights import read_flights
from kafka.cli.demo.names import CHECKPOINT, Names
from kafka.cli.demo.planted import KINDS, UNKNOWN_SCHEMA_ID
from kafka.errors import KafkaConfigurationError
from kafka.pipelines.events import Event, EventFile, SourceCounts
from kafka.schema_registry import SchemaRegistryClient

pytestmark = pytest.mark.once
FLIGHTS = 300
EACH = 3


def write_results(names: Names, lost: int) -> None:
    """Write results like the pipeline: some rows in an aborted transaction, then all rows except the lost ones."""
    table = pa.Table.from_pandas(check.expected_results(read_flights(FLIGHTS)), preserve_index=False)
    with (
        SchemaRegistryClient({"url": names.registry_url}) as registry,
        KafkaProducer(bootstrap_servers=names.bootstrap_servers, transactional_id=names.pipeline) as sink,
    ):
        writer = registry.writer(f"{names.sink}-value", table.schema)
        sink.init_transactions()
        for some, end in ((table[:7], sink.abort_transaction), (table[lost:], sink.commit_transaction)):
            sink.begin_transaction()
            sink.send_arrow(names.sink, some, value=writer)
            sink.flush()
            end()


def write_dead_letters(names: Names, *rules: tuple[str, int, int], copies: bytes = b"") -> None:
    """Write dead letters: the rule, the first offset and the number of each kind. They have the bytes of the source."""
    broken = [each.value for each in kafka.read(names.source, bootstrap_servers=names.bootstrap_servers)]
    broken = [value for value in broken if value.startswith((b"flight ", b"\0" + UNKNOWN_SCHEMA_ID.to_bytes(4, "big")))]
    with KafkaProducer(bootstrap_servers=names.bootstrap_servers) as producer:
        for rule, first, count in rules:
            for number in range(count):
                attempt = b"2" if first < 0 else b"1"
                headers = [
                    ("kafka.pipeline", names.pipeline.encode()),
                    ("kafka.rule", rule.encode()),
                    ("kafka.cause", b"why"),
                    ("kafka.source", b"%s/0/%d" % (names.source.encode(), abs(first) + number)),
                    ("kafka.attempt", attempt),
                ]
                value = copies or (broken[number] if rule == "decodes" else b"value")
                producer.send(names.dead_letters, value, headers=headers, partition=0)


def write_events(names: Names) -> None:
    """Write the events of two runs of the stream, of which the first was killed, and of a replay."""
    for number, (kind, rows) in enumerate((("stream", 200), ("stream", 121), ("replay", 7))):
        file = EventFile(names.output / CHECKPOINT / "events", str(number))
        base: dict[str, Any] = {"pipeline": names.pipeline, "run": kind, "run_id": str(number)}
        counts = {"source": SourceCounts(rows, rows, 0, 0)}
        file.append(Event("start", f"2026-01-01T00:0{number}:00+00:00", **base))
        file.append(
            Event("batch", f"2026-01-01T00:0{number}:10+00:00", **base, batch=number, seconds=2.0, sources=counts)
        )
        if number:
            file.append(Event("stop", f"2026-01-01T00:0{number}:20+00:00", **base))


def run_demo(
    monkeypatch: pytest.MonkeyPatch, folder: pathlib.Path, lost: int = 0, copies: bytes = b"", balances: bool = True
) -> None:
    cancelled = check.cancelled(read_flights(FLIGHTS))

    def run_with_a_kill(names: Names, batches: int, total: int, say: object) -> None:
        assert (batches, total) == (4, FLIGHTS + EACH * len(KINDS))
        write_dead_letters(
            names,
            ("decodes", 0, 2 * EACH),
            ("required fields are present", 100, EACH),
            ("times are within bounds", 110, EACH),
            ("airport is in New York", 120, EACH),
            ("delay is plausible", 130, EACH + cancelled),
            copies=copies,
        )

    def run_command(names: Names, command: tuple[str, ...], say: object, **given: Any) -> None:
        if command[1] == "replay":
            assert command == ("pipeline", "replay", "flights.yaml", "--rule", "delay is plausible")
            write_dead_letters(names, ("delay is plausible", -130, EACH))
            write_results(names, lost)
            write_events(names)
            return
        parts = {"in": FLIGHTS + EACH * len(KINDS), "out": FLIGHTS, "dropped": EACH, "dead": 6 * EACH}
        audit = {"balances": balances, "faults": ["lost"], "partitions": [{"partition": 0, "faults": 0} | parts]}
        given["output"].write_text(json.dumps(audit))

    monkeypatch.setattr(run, "check_java", lambda: None)
    monkeypatch.setattr(driver_processes, "run_with_a_kill", run_with_a_kill)
    monkeypatch.setattr(driver_processes, "run_command", run_command)
    run.run(None, folder, FLIGHTS, folder / "report.html")


@pytest.mark.slow
def test_the_demo_checks_and_reports_its_results(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / CHECKPOINT).mkdir(parents=True)
    (tmp_path / CHECKPOINT / "old").touch()
    run_demo(monkeypatch, tmp_path)
    assert not (tmp_path / CHECKPOINT / "old").exists()
    said = capsys.readouterr().out
    assert said.startswith("This demo shows a pipeline")
    assert "Sent 300 flights and 21 planted ones to 'flights'." in said
    assert "-  - {name: delay is plausible, holds: dep_delay between -60 and 1440}" in said
    assert "+  - {name: delay is plausible, holds: dep_delay is null or dep_delay between -60 and 1440}" in said
    assert "The audit balances: 321 records = 300 results + 18 dead letters + 3 dropped." in said
    assert "Each of the 300 real flights is in the results exactly once" in said
    assert "do not see 7 rows of aborted transactions" in said
    assert said.splitlines()[-1] == f"Report: {tmp_path / 'report.html'}"
    assert "pipeline replay flights.yaml" in (tmp_path / "report.html").read_text()


@pytest.mark.slow
def test_rates_are_those_of_micro_batches(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_demo(monkeypatch, tmp_path)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["the", "pipeline,", "until", "the", "kill", "200", "2.0", "100"] in lines
    assert ["the", "pipeline,", "after", "the", "restart", "121", "2.0", "60"] in lines
    assert ["replay", "of", "dead", "letters", "7", "2.0", "4"] in lines


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"lost": 1}, "the topic lacks 1 of 300 rows: flights 0"),
        ({"copies": b"other bytes"}, "the bytes of the undecodable flights"),
        ({"balances": False}, "the audit does not balance"),
    ],
)
def test_what_is_wrong_is_detected(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path, wrong: dict[str, Any], why: str
) -> None:
    with pytest.raises(check.DifferentResult, match=why):
        run_demo(monkeypatch, tmp_path, **wrong)
    assert not (tmp_path / "report.html").exists()


def test_an_interrupt_while_reading_flights_is_raised_as_such(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    def read_csv(*_: object, **__: object) -> pd.DataFrame:  # as pandas behaves
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise pd.errors.ParserError("Calling read(nbytes) on source failed") from None
        return pd.DataFrame()

    monkeypatch.setattr(flights, "_folder", lambda: tmp_path)
    monkeypatch.setattr(pd, "read_csv", read_csv)
    with pytest.raises(KeyboardInterrupt):
        read_flights()


@pytest.mark.parametrize(
    ("typed", "servers", "registry"),
    [
        ("demo", None, None),
        ("demo --bootstrap-servers a:1", "a:1", None),
        ("-b a:1 -b b:2 demo", "a:1,b:2", None),
        ("-b a:1 demo --bootstrap-servers b:2 --registry http://c:3", "b:2", "http://c:3"),
        ("demo --bootstrap-servers=", "", None),
    ],
)
def test_the_demo_runs_on_the_given_cluster(
    monkeypatch: pytest.MonkeyPatch, typed: str, servers: str | None, registry: str | None
) -> None:
    asked: list[object] = []
    monkeypatch.setattr(
        "kafka.cli.demo.run.run",
        lambda bootstrap_servers, registry_url, **_: asked.append((bootstrap_servers, registry_url)),
    )
    assert CliRunner().invoke(commands, typed.split()).exit_code == 0
    assert asked == [(servers, registry)]


def test_a_registry_without_a_cluster_is_wrong_use() -> None:
    told = CliRunner().invoke(commands, ["demo", "--registry", "http://c:3"])
    assert told.exit_code == 2
    assert "--registry needs --bootstrap-servers" in told.stderr


@pytest.mark.parametrize("option", ["--profile x", "-X client_id=x", "--sasl-user x"])
def test_the_demo_rejects_other_connection_options(option: str) -> None:
    told = CliRunner().invoke(commands, [*option.split(), "demo"])
    assert told.exit_code == 2
    assert f"the demo accepts no connection option except --bootstrap-servers, got {option.split()[0]}" in told.stderr


@pytest.mark.slow
def test_empty_bootstrap_servers_do_not_start_the_embedded_broker(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    monkeypatch.setattr(run, "check_java", lambda: None)
    with pytest.raises(KafkaConfigurationError, match="bootstrap_servers"):
        run.run("", tmp_path, FLIGHTS, None)
