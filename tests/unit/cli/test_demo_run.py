"""The demo without Spark: prepared results are checked and reported."""

import datetime
import importlib
import json
import pathlib
import signal
from collections.abc import Callable

import pandas as pd
import pytest
from click.testing import CliRunner

from kafka import KafkaAdminClient, KafkaProducer
from kafka.cli.commands import commands
from kafka.cli.demo import check, driver_processes, flights
from kafka.cli.demo.check import expected_delays
from kafka.cli.demo.flights import read_flights
from kafka.cli.demo.ingest import RESULT_TOPIC, SOURCE_TOPIC, end_offsets
from kafka.cli.demo.plan import Plan
from kafka.errors import KafkaConfigurationError
from kafka.structs import OffsetAndMetadata, TopicPartition

run = importlib.import_module("kafka.cli.demo.run")  # the package contains a function of the same name
pytestmark = pytest.mark.once
FLIGHTS = 300


def rows_of(table: pd.DataFrame) -> list[dict[str, object]]:
    """Return the rows as the pipeline writes them."""
    rows = json.loads(table.to_json(orient="records", date_format="iso"))
    for row in rows:
        row["worst"] = {name: row.pop(f"worst_{name}") for name in ("dep_delay", "airline", "destination")}
    return rows


def write_results(plan: Plan, lost: int) -> None:
    """Write results like the queries: some rows in an aborted transaction, then all rows except the lost ones."""
    rows = rows_of(expected_delays(read_flights(FLIGHTS)))
    with KafkaProducer(bootstrap_servers=plan.bootstrap_servers, transactional_id=plan.transactional_id_prefix) as sink:
        sink.init_transactions()
        for some, end in ((rows[:7], sink.abort_transaction), (rows[lost:], sink.commit_transaction)):
            sink.begin_transaction()
            for row in some:
                sink.send(RESULT_TOPIC, json.dumps(row).encode())
            sink.flush()
            end()
    folder = pathlib.Path(plan.parquet)
    (folder / "_spark_metadata").mkdir(parents=True)
    pd.DataFrame(rows).to_parquet(folder / "part-0.parquet")
    (folder / "_spark_metadata" / "0").write_text(f'v1\n{{"path": "file://{folder}/part-0.parquet"}}')


def commit_groups(plan: Plan) -> None:
    ends = end_offsets(plan.bootstrap_servers, SOURCE_TOPIC)
    offsets = {TopicPartition(SOURCE_TOPIC, partition): OffsetAndMetadata(end) for partition, end in ends.items()}
    with KafkaAdminClient(bootstrap_servers=plan.bootstrap_servers) as admin:
        for group in plan.groups.values():
            admin.alter_group_offsets(group, offsets)


def run_demo(monkeypatch: pytest.MonkeyPatch, folder: pathlib.Path, lost: int = 0) -> None:
    def drive(plan: Plan, total: int, log: pathlib.Path, say: Callable[[str], None]) -> object:
        assert total == FLIGHTS + 4
        say(driver_processes.told_lag("Group lag at that point", driver_processes.lag_of(plan)))
        write_results(plan, lost)
        commit_groups(plan)
        now = datetime.datetime.now(datetime.UTC)
        return driver_processes.Kill(now, 2, 123, 1, {}), now

    monkeypatch.setattr(run, "check_java", lambda: None)
    monkeypatch.setattr(driver_processes, "run_with_a_kill", drive)
    run.run(None, folder, FLIGHTS, folder / "report.html")


@pytest.mark.slow
def test_the_demo_checks_and_reports_its_results(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_demo(monkeypatch, tmp_path)
    said = capsys.readouterr().out
    assert "Sent 300 flights to the topic 'flights'" in said
    assert "Group lag at that point: flight-delays 304, flight-delays-parquet 304." in said
    assert "Final group lag: flight-delays 0, flight-delays-parquet 0." in said
    assert "match the results of pandas exactly, each row once" in said
    assert "do not see 7 rows of the killed driver's aborted transactions" in said
    assert said.splitlines()[-1] == f"Report: {tmp_path / 'report.html'}"
    assert "killed after 123 records" in (tmp_path / "report.html").read_text()


@pytest.mark.slow
def test_a_lost_row_is_detected(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    with pytest.raises(check.DifferentResult, match="the topic has"):
        run_demo(monkeypatch, tmp_path, lost=1)
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
    ("typed", "servers"),
    [
        ("demo", None),
        ("demo --bootstrap-servers a:1", "a:1"),
        ("-b a:1 -b b:2 demo", "a:1,b:2"),
        ("-b a:1 demo --bootstrap-servers b:2", "b:2"),
        ("demo --bootstrap-servers=", ""),
    ],
)
def test_the_demo_runs_on_the_given_cluster(monkeypatch: pytest.MonkeyPatch, typed: str, servers: str | None) -> None:
    asked: list[object] = []
    monkeypatch.setattr("kafka.cli.demo.run", lambda bootstrap_servers, **_: asked.append(bootstrap_servers))
    assert CliRunner().invoke(commands, typed.split()).exit_code == 0
    assert asked == [servers]


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
