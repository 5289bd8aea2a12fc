"""The programs of docs/PIPELINES.md, and the same tasks written by hand, on the same records: both write the same."""

from __future__ import annotations

import contextlib
import datetime
import json
import re
import shlex
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from scripts import pipelines_page

import kafka
from harness.postgresql import PASSWORD, USER, NoServerError, postgresql_server
from kafka import KafkaProducer
from kafka.broker import EmbeddedBroker
from kafka.cli.commands import commands
from kafka.pipelines import load
from kafka.pipelines.run import run

from .spark_support import spark

__all__ = ["spark"]

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

PAGE = pipelines_page.PAGE.read_text(encoding="utf-8")
RECIPES = {number: (language, text) for number, _, language, text in pipelines_page.recipes(PAGE)}
COUNT = 240
START = datetime.datetime(2026, 11, 27, 10, 0)
Value = dict[str, Any]


def at(seconds: int) -> str:
    return (START + datetime.timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


class Setting:
    """A broker, a directory, and the records of a recipe.

    Attributes:
        good: the values that pass.
        bad: the bytes of the records that are rejected, in the order in which they are written.
    """

    def __init__(self, broker: EmbeddedBroker, directory: Path, spark: Any) -> None:
        self.broker = broker
        self.directory = directory
        self.spark = spark
        self.good: list[Value] = []
        self.bad: list[bytes] = []
        self.more: dict[str, str] = {}
        """Other texts to replace in programs."""

    def send(self, topic: str, make: Callable[[int], Value], numbers: range = range(COUNT)) -> list[Value]:
        """Write JSON records, some broken and some without an id. Return the good ones."""
        good = []
        with KafkaProducer(bootstrap_servers=self.broker.bootstrap_servers) as producer:
            for number in numbers:
                value = make(number)
                text = json.dumps(value).encode()
                if number % 20 == 5:
                    text = b"broken %d" % number
                elif number % 50 == 7:
                    text = json.dumps(value | {next(iter(value)): None}).encode()
                if number % 20 == 5 or number % 50 == 7:
                    self.bad.append(text)
                else:
                    good.append(value)
                producer.send(topic, text, key=b"k%d" % number)
        self.good += good
        return good

    def records(self, topic: str) -> list[Any]:
        """Return the committed records of a topic."""
        with kafka.read(
            topic, bootstrap_servers=self.broker.bootstrap_servers, isolation_level="read_committed"
        ) as read:
            return list(read)

    def values(self, topic: str) -> list[Value]:
        return [json.loads(record.value) for record in self.records(topic)]

    def assert_dead(self, topic: str) -> None:
        """Assert that the dead letters have the bytes of the rejected records, each once."""
        assert sorted(record.value for record in self.records(topic)) == sorted(self.bad)

    def text(self, program: str) -> str:
        """Return a program with the addresses and directories of this setting."""
        replaced = {
            "localhost:9092": self.broker.bootstrap_servers,
            "http://localhost:8081": self.broker.registry_url,
            "/tmp/": f"{self.directory}/",
        }
        for old, new in (replaced | self.more).items():  # new texts may contain "/tmp/"
            program = program.replace(old, new)
        return program

    def run(self, language: str, program: str) -> None:
        """Run a program with the session of the tests."""
        text = self.text(program)
        if language == "yaml":
            path = self.directory / "recipe.yaml"
            path.write_text(text, encoding="utf-8")
            run(load(path), self.spark)
        else:
            exec(compile(text, "recipe.py", "exec"), {"__name__": "__main__"})


@pytest.fixture
def setting(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Setting]:
    monkeypatch.chdir(tmp_path)
    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    with EmbeddedBroker(tmp_path / "broker", registry=True, group_initial_rebalance_delay_ms=0) as broker:
        yield Setting(broker, tmp_path, spark)
    spark.conf.set("spark.sql.session.timeZone", zone)


def parquet_by_date(each: Setting) -> Iterator[None]:
    each.send("flights", lambda i: {"id": i, "ts": at(86_400 * (i % 3)), "origin": "EWR", "delay": i / 2})
    yield
    rows = each.spark.read.parquet(str(each.directory / "flights_by_day")).collect()
    assert sorted((row.id, str(row.date)) for row in rows) == [(row["id"], row["ts"][:10]) for row in each.good]
    each.assert_dead("flights.dead")


def unique_rows(each: Setting) -> Iterator[None]:
    each.send("payments", lambda i: {"id": f"p{i // 2}", "ts": at(i), "amount": 1.5})
    yield
    assert sorted(row["id"] for row in each.values("payments.unique")) == sorted({row["id"] for row in each.good})
    each.assert_dead("payments.dead")


def stream_join(each: Setting) -> Iterator[None]:
    shown = each.send("shown", lambda i: {"ad": i, "ts": at(i), "page": f"p{i}"})
    clicked = each.send("clicked", lambda i: {"ad": i, "ts": at(i + (60 if i % 3 else 600))})
    yield
    ads = {row["ad"] for row in shown} & {row["ad"] for row in clicked if row["ad"] % 3}
    found = each.values("ads.clicked")
    assert sorted(row["ad"] for row in found) == sorted(ads)
    assert {tuple(row) for row in found} == {("ad", "page", "ts", "clicked_at")}
    each.assert_dead("ads.dead")


def windows(each: Setting) -> Iterator[None]:
    each.send("sales", lambda i: {"shop": "AB"[i % 2], "ts": at(60 * (i ^ 1)), "amount": float(i)})
    yield
    expected: dict[tuple[str, str], list[float]] = {}
    for row in each.good:
        expected.setdefault((row["shop"], row["ts"][:13]), []).append(row["amount"])
    found = {(row["shop"], row["hour"][:13]): (row["sales"], row["total"]) for row in each.values("sales.hourly")}
    assert found == {group: (len(amounts), sum(amounts)) for group, amounts in expected.items()}
    assert len(each.values("sales.hourly")) == len(expected) == 8
    each.assert_dead("sales.dead")


def latest(each: Setting) -> dict[int, str]:
    return {row["id"]: row["city"] for row in each.good}


def customer(number: int) -> Value:
    return {"id": number % 40, "ts": at(number), "city": f"c{number}"}


def postgresql(each: Setting) -> Iterator[None]:
    psycopg = pytest.importorskip("psycopg")
    with contextlib.ExitStack() as stack:
        try:
            server = stack.enter_context(postgresql_server())
        except NoServerError as error:
            pytest.skip(f"PostgreSQL: {error}")
        each.more = {
            "postgresql://localhost:5432/shop": server.url,
            "user: app": f"user: {USER}, password: {PASSWORD}",
            'user="app"': f"user={USER!r}, password={PASSWORD!r}",
        }
        with psycopg.connect(server.with_password) as connection:
            connection.execute("drop schema public cascade")
            connection.execute("create schema public")
        each.send("customers", customer)
        yield
        with psycopg.connect(server.with_password) as connection:
            assert dict(connection.execute("select id, city from customers").fetchall()) == latest(each)
        each.assert_dead("customers.dead")


def delta(each: Setting) -> Iterator[None]:
    deltalake = pytest.importorskip("deltalake")
    each.send("customers", customer)
    yield
    rows = deltalake.DeltaTable(each.directory / "latest_customers").to_pyarrow_table().to_pylist()
    assert sorted((row["id"], row["city"]) for row in rows) == sorted(latest(each).items())
    each.assert_dead("customers.dead")


def iceberg(each: Setting) -> Iterator[None]:
    catalogs = pytest.importorskip("pyiceberg.catalog")
    each.send("flights", lambda i: {"id": i, "ts": at(i), "origin": "EWR", "delay": i / 2})
    yield
    properties = {"type": "sql", "uri": f"sqlite:///{each.directory}/catalog.db"}
    table = catalogs.load_catalog("default", **properties).load_table("flights.delays")
    ids = table.scan(selected_fields=("id",)).to_arrow().column("id").to_pylist()
    assert sorted(ids) == [row["id"] for row in each.good]
    each.assert_dead("flights.dead")


def by_id(rows: list[Value]) -> list[Value]:
    return sorted(rows, key=lambda row: int(row["id"]))


def order(number: int) -> Value:
    return {"id": number, "item": f"i{number}"}


def backfill(each: Setting) -> Iterator[None]:
    each.send("orders", order)
    yield
    assert by_id(each.values("orders.items")) == each.good
    each.send("orders", order, range(COUNT, COUNT + 30))
    yield  # the program is started again
    assert by_id(each.values("orders.items")) == each.good
    each.assert_dead("orders.dead")


def table_for_each_topic(each: Setting) -> Iterator[None]:
    deltalake = pytest.importorskip("deltalake")
    made = {topic: each.send(topic, lambda i: {"id": i, "page": "p"}) for topic in ("clicks.eu", "clicks.us")}
    yield
    for topic, good in made.items():
        rows = deltalake.DeltaTable(each.directory / "raw" / topic).to_pyarrow_table().to_pylist()
        assert sorted(row["id"] for row in rows) == [row["id"] for row in good]
    each.assert_dead("clicks-dead")


def copy_with_rules(each: Setting) -> Iterator[None]:
    each.send("orders", lambda i: {"id": i, "item": "x" * (1000 if i == 100 else 3)})
    (long,) = [row for row in each.good if row["id"] == 100]
    each.good.remove(long)
    each.bad.append(json.dumps(long).encode())
    yield
    found = sorted((record.key, record.value) for record in each.records("orders.copy"))
    assert found == sorted((b"k%d" % row["id"], json.dumps(row).encode()) for row in each.good)
    each.assert_dead("orders.dead")


def avro_to_json(each: Setting) -> Iterator[None]:
    from kafka.schema_registry import SchemaRegistryClient
    from kafka.schema_registry.avro import AvroSerializer

    schema = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "int"}, '
    schema += '{"name": "amount", "type": "double"}]}'
    client = SchemaRegistryClient({"url": each.broker.registry_url})
    encode = AvroSerializer(client, schema)
    with KafkaProducer(bootstrap_servers=each.broker.bootstrap_servers, value_serializer=encode) as producer:
        for number in range(COUNT):
            producer.send("orders", {"id": number, "amount": float(number)})
    each.bad.append(each.records("orders")[0].value)  # its amount is 0
    each.good = [{"id": number, "amount": float(number)} for number in range(1, COUNT)]
    with KafkaProducer(bootstrap_servers=each.broker.bootstrap_servers) as producer:
        producer.send("orders", b"broken")
        each.bad.append(b"broken")
    yield
    assert by_id(each.values("orders.json")) == each.good
    each.assert_dead("orders.dead")


def rules_and_replay(each: Setting) -> Iterator[None]:
    good = each.send("flights", lambda i: {"origin": "EWR", "dep_delay": i * 10.0 - 200})
    unknown = [json.loads(value) for value in each.bad if value.startswith(b"{")]
    each.bad += [json.dumps(row).encode() for row in unknown if not -120 <= row["dep_delay"] <= 300]  # they fail both
    each.bad += [json.dumps(row).encode() for row in good if not -120 <= row["dep_delay"] <= 300]
    each.bad += [json.dumps(row).encode() for row in good if not -120 <= row["dep_delay"] <= 1500]  # again
    yield
    late = [row["dep_delay"] for row in good if 0 < row["dep_delay"] <= 1500]
    assert sorted(row["dep_delay"] for row in each.values("delays")) == late
    each.assert_dead("flights.dead")


def sqlite(each: Setting) -> Iterator[None]:
    each.send("orders", order)
    yield
    with contextlib.closing(sqlite3.connect(each.directory / "orders.db")) as database:
        found = database.execute("select id, item from orders order by id").fetchall()
    assert found == [(row["id"], row["item"]) for row in each.good]
    each.assert_dead("orders.dead")


TASKS = {
    1: parquet_by_date,
    2: unique_rows,
    3: stream_join,
    4: windows,
    5: postgresql,
    6: delta,
    7: iceberg,
    8: backfill,
    9: table_for_each_topic,
    10: copy_with_rules,
    11: avro_to_json,
    12: rules_and_replay,
    13: sqlite,
}
"""By the number of the recipe: writes records, lets the program run at each ``yield``, and checks what it wrote."""


def test_each_recipe_has_a_task() -> None:
    assert list(RECIPES) == list(TASKS)


@pytest.mark.all_cases
@pytest.mark.parametrize("number", TASKS)
def test_a_recipe(number: int, setting: Setting) -> None:
    for _ in TASKS[number](setting):
        setting.run(*RECIPES[number])


@pytest.mark.slow
@pytest.mark.parametrize("number", TASKS)
def test_the_same_by_hand(number: int, setting: Setting) -> None:
    for _ in TASKS[number](setting):
        setting.run("python", pipelines_page.hand_written(number))


def blocks(section: str, language: str) -> list[str]:
    """Return the programs of a section of the page."""
    text = PAGE.partition(f"## {section}\n")[2].partition("\n## ")[0]
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def test_the_first_ten_minutes(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands print what the page says."""
    servers = setting.broker.bootstrap_servers
    printed: dict[str, list[str]] = {}
    commands_of_page = [line for block in blocks("Ten minutes", "sh") for line in block.splitlines()]
    for line in commands_of_page:
        text, bar, command = line.removeprefix("echo ").partition(" | ")
        program, *arguments = shlex.split(command if bar else line)
        if program == "kafka" and arguments[0] != "broker":
            if arguments[0] != "pipeline":
                arguments = ["-b", servers, *arguments]
            elif arguments[1] == "init":
                arguments += ["-b", servers]
            given = "".join(f"{each}\n" for each in shlex.split(text)) if bar else None
            done = CliRunner().invoke(commands, arguments, input=given)
            assert done.exit_code == 0, done.output
            printed.setdefault(line, []).append(done.output)
        elif program == "cd":
            monkeypatch.chdir(arguments[0])
        elif program == "sed":
            subprocess.run([program, *arguments], check=True)
        else:
            assert program in ("pip", "kafka"), line
    (replayed,) = printed['kafka pipeline replay flights.yaml --rule "delay is plausible"']
    assert re.search(r"rows in\s+3\n\s*rows out\s+2\n", replayed), replayed
    assert "not true" in printed['kafka pipeline dead flights.yaml --rule "delay is plausible"'][0]
    ran, again = printed["kafka pipeline run flights.yaml --once"]
    assert re.search(r"rows in\s+60\n\s*rows out\s+21\n\s*dead letters\s+9 ", ran), ran
    (audited,) = printed["kafka pipeline audit flights.yaml"]
    assert "balances: 60 in, 23 out, 28 filtered, 2 dropped, 7 dead" in audited
    assert re.search(r"rows in\s+1\n\s*rows out\s+0\n\s*dead letters\s+1 ", again), again
    (own,) = printed["kafka pipeline dead flights.yaml --rule decodes --limit 1"]
    cause = 'day: expected a whole number of 32 bits, got the string "1st", at byte 34'
    assert cause in own
    assert cause in PAGE, "the page shows it"


def test_the_programs_about_steps(setting: Setting, capsys: pytest.CaptureFixture[str]) -> None:
    for program in blocks("Steps", "python"):
        setting.run("python", program)
    printed = capsys.readouterr().out
    assert printed.startswith("2\n")
    assert printed.endswith("0:10:00\n")
    assert "right_ts" in printed


def test_the_test_of_a_pipeline(setting: Setting) -> None:
    Path("flights.yaml").write_text(blocks("A pipeline in YAML and in Python", "yaml")[0])
    (program,) = blocks("Running", "python")
    setting.run("python", program + "\n\ntest_late_flights()\n")


def test_the_two_forms_of_a_pipeline(setting: Setting) -> None:
    """The YAML file and the program at the beginning of the page write the same."""
    yaml, python = ("".join(blocks("A pipeline in YAML and in Python", language)) for language in ("yaml", "python"))
    value = {"year": 2013, "month": 1, "day": 1, "carrier": "UA", "origin": "EWR", "dep_delay": 4.0}
    rows = [value, value | {"dep_delay": -1.0}, value | {"carrier": None}, value | {"origin": "SFO"}]
    rows += [value | {"dep_delay": 9999.0}]
    with KafkaProducer(bootstrap_servers=setting.broker.bootstrap_servers) as producer:
        for row in rows:
            producer.send("flights", json.dumps(row).encode())
    setting.bad = [json.dumps(rows[2]).encode(), json.dumps(rows[4]).encode()]
    setting.run("yaml", yaml)
    assert setting.values("delays") == [{"origin": "EWR", "dep_delay": 4.0, "carrier": "UA"}]
    setting.assert_dead("flights.dead")
    setting.run("python", python.replace('"flight-delays"', '"flight-delays-2"').replace('"flights.dead"', '"dead-2"'))
    assert setting.values("delays") == [{"origin": "EWR", "dep_delay": 4.0, "carrier": "UA"}] * 2
    setting.assert_dead("dead-2")
