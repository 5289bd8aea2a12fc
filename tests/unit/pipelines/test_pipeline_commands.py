"""The commands dead, status and audit on an embedded broker, with a pipeline whose topics are written here."""

from __future__ import annotations

import base64
import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.broker import EmbeddedBroker
from kafka.cli.commands import commands
from kafka.cli.pipeline.spark_session import SessionChoice
from kafka.errors import IllegalStateError
from kafka.pipelines import InvalidDeclaration, Pipeline, client_configs, kafka_sink, kafka_source
from kafka.pipelines.bounded_runs import RunDirectory
from kafka.pipelines.events import Event, EventFile, SourceCounts
from kafka.pipelines.start_checks import run_lock
from kafka.spark.exactly_once.decision import Decision, decision_group, to_parts
from kafka.structs import OffsetAndMetadata, TopicPartition

from .dead_letter_support import own_headers

DECLARATION = """
pipeline: {name}
kafka: {{bootstrap.servers: "{servers}"}}
source: {{topic: {name}, value: {{format: json, schema: n int}}}}
rules:
  - {{name: small, holds: n < 100}}
  - {{name: even, holds: n % 2 = 0, otherwise: drop}}
query: select n from source
sink: {{topic: {name}.out}}
dead_letters: {{topic: {name}.dead}}
"""
ROWS = 12


@pytest.fixture(scope="module")
def broker() -> Iterator[EmbeddedBroker]:
    """A broker for the tests of this module."""
    with EmbeddedBroker() as embedded:
        yield embedded


class Written:
    """A pipeline that has read twelve records: every third one is dead, and the others are in the sink.

    Arguments:
        broker: the broker.
        directory: where the declaration and the checkpoint are.
        name: the name of the pipeline.
    """

    def __init__(self, broker: EmbeddedBroker, directory: Path, name: str) -> None:
        self.file = directory / f"{name}.yaml"
        self.base = directory / "checkpoints" / name
        self._name = name
        self.configs: dict[str, Any] = {"bootstrap_servers": broker.bootstrap_servers}
        self.file.write_text(DECLARATION.format(name=name, servers=broker.bootstrap_servers), encoding="utf-8")
        with KafkaAdminClient(**self.configs) as admin:
            admin.create_topics({f"{name}{suffix}": {"num_partitions": 1} for suffix in ("", ".out", ".dead")})
        for number in range(ROWS):
            self.send("", b'{"n": %d}' % number)
            if number % 3:
                self.send_row(number)
            else:
                self.send(".dead", b"\xff\x00%d" % number, own_headers(name, ("small",), f"{name}/0/{number}"))

    def send(self, suffix: str, value: bytes, headers: Any = ()) -> None:
        """Write a record to a topic of the pipeline."""
        with KafkaProducer(**self.configs) as producer:
            producer.send(self._name + suffix, value, key=b"k", headers=list(headers)).get(timeout=30)

    def send_row(self, number: int) -> None:
        """Write a row to the sink."""
        self.send(".out", b"{}", [("kafka.source", f"{self._name}/0/{number}".encode())])

    def run(self, *batches: tuple[int, int], end: bool = True) -> None:
        """Write the events of a run with micro-batches of these offsets."""
        events = EventFile(self.base / "events", "run")
        base: dict[str, Any] = {"pipeline": self._name, "run_id": "r"}
        events.append(Event("start", "2026-01-01T00:00:00+00:00", **base))
        for number, (start, stop) in enumerate(batches):
            dead = sum(offset % 3 == 0 for offset in range(start, stop))
            rows = stop - start
            ranges = {f"{self._name}-0": (start, stop)}
            counts = SourceCounts(rows, rows - dead, 0, dead, {"small": dead, "even": 1}, ranges, ROWS - stop)
            time = f"2026-01-01T00:00:{number + 1:02}+00:00"
            sources = {"source": counts}
            events.append(Event("batch", time, batch=number, seconds=2.0, sources=sources, out=rows - dead, **base))
        if end:
            events.append(Event("stop", "2026-01-01T00:01:00+00:00", **base))

    def command(self, name: str, *options: str) -> Result:
        """Run a command."""
        return CliRunner().invoke(commands, ["pipeline", name, str(self.file), *options])


def test_dead_counts_and_shows_dead_letters(broker: EmbeddedBroker, tmp_path: Path) -> None:
    written = Written(broker, tmp_path, "shown")
    written.send(".dead", b"foreign")
    written.send(".dead", b"again", own_headers("shown", ("small", "even"), "shown/0/9", 2))
    result = written.command("dead", "--limit", "2", "--titles")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[:3] == ["rule\tdead_letters\treplayed\topen", "small\t5\t1\t4", "even\t1\t0\t1"]
    assert "dead letter shown.dead:0:5 of shown:0:9" in lines
    assert "  rules:     small, even" in lines
    assert "  value:     again" in lines
    assert "  attempt:   1 (superseded by attempt 2)" in lines
    assert "  value:     000000  ff 00 39 " in result.stdout
    assert "5 dead letters of pipeline shown in topic shown.dead, 4 of them open; 1 other records" in result.stderr
    assert result.stderr.splitlines()[-1] == f"Once corrected, replay them: kafka pipeline replay {written.file}"
    hexadecimal = written.command("dead", "--limit", "1", "--hex", "--bytes", "3").stdout
    assert "000000  61 67 61" in hexadecimal
    assert "... (5 bytes)" in hexadecimal


def test_dead_in_json_has_all_bytes_and_the_command_to_replay_a_selection(
    broker: EmbeddedBroker, tmp_path: Path
) -> None:
    written = Written(broker, tmp_path, "selected")
    found = json.loads(written.command("dead", "--rule", "small", "--from", "1", "--to", "3", "--json").stdout)
    assert (found["letters"], found["superseded"], found["open"], found["other_records"]) == (2, 0, 2, 0)
    assert found["rules"] == [{"rule": "small", "letters": 2, "superseded": 0, "open": 2}]
    assert found["replay"] == f"kafka pipeline replay {written.file} --rule small --offsets 0:1-3"
    newest, oldest = found["dead_letters"]
    assert base64.b64decode(newest["value"]) == b"\xff\x006"
    assert newest["source"] == {"topic": "selected", "partition": 0, "offset": 6}
    assert oldest["position"] == {"topic": "selected.dead", "partition": 0, "offset": 1}
    since = json.loads(written.command("dead", "--by-rule", "--from", "2020-01-01T00:00+00:00", "--json").stdout)
    assert "dead_letters" not in since
    assert since["replay"].endswith("--since 2020-01-01T00:00:00+00:00")


def test_dead_refuses_a_misspelt_rule_and_names_the_rules(broker: EmbeddedBroker, tmp_path: Path) -> None:
    written = Written(broker, tmp_path, "misspelt")
    found = written.command("dead", "--rule", "smal")
    assert found.exit_code == 2
    assert "pipeline misspelt has no rule 'smal'; did you mean 'small'? (the rules are" in found.stderr
    assert "'small', 'even')" in found.stderr
    assert written.command("dead", "--rule", "even").exit_code == 0
    written.send(".dead", b"x", own_headers("misspelt", ("a former rule",), "misspelt/0/1"))
    assert written.command("dead", "--rule", "a former rule").exit_code == 0
    assert "'a former rule'" in written.command("dead", "--rule", "zzz", "--from", "0", "--to", "1").stderr


def test_dead_letters_that_a_replay_has_processed_are_not_open(broker: EmbeddedBroker, tmp_path: Path) -> None:
    written = Written(broker, tmp_path, "replayed")
    runs = RunDirectory(written.base / "replays", "replay")
    partition = TopicPartition("replayed.dead", 0)
    plan = runs.add({"rule": "small"}, [{partition: (0, 2)}, {partition: (2, 4)}])
    runs.store(dataclasses.replace(plan, done=1))
    result = written.command("dead", "--titles", "--oldest")
    assert result.stdout.splitlines()[:2] == ["rule\tdead_letters\treplayed\topen", "small\t4\t2\t2"]
    assert result.stdout.count("  attempt:   1 (replayed)\n") == 2
    assert "4 dead letters of pipeline replayed in topic replayed.dead, 2 of them open" in result.stderr
    runs.store(dataclasses.replace(plan, done=2))
    result = written.command("dead", "--by-rule")
    assert result.stdout == "rule\tdead_letters\treplayed\topen\nsmall\t4\t4\t0\n"
    assert "Once corrected" not in result.stderr
    other = dataclasses.replace(plan, done=2, topic_ids={"replayed.dead": "another topic of this name"})
    runs.store(other)
    assert written.command("dead", "--by-rule").stdout == "rule\tdead_letters\treplayed\topen\nsmall\t4\t0\t4\n"


def test_for_a_query_that_keeps_state_dead_suggests_a_backfill(broker: EmbeddedBroker, tmp_path: Path) -> None:
    written = Written(broker, tmp_path, "stateful")
    text = written.file.read_text(encoding="utf-8")
    written.file.write_text(text.replace("select n from source", "select count(*) as n from source"), encoding="utf-8")
    last = written.command("dead", "--by-rule").stderr.splitlines()[-1]
    assert last.startswith("The query keeps state, so dead letters cannot be replayed.")
    assert last.endswith(f"kafka pipeline backfill {written.file} --since TIME --to TOPIC")


def test_status_shows_counts_and_lag(broker: EmbeddedBroker, tmp_path: Path) -> None:
    written = Written(broker, tmp_path, "reported")
    before = json.loads(written.command("status", "--json").stdout)
    assert (before["state"], before["last_batch"], before["sources"][0]["lag"]) == ("never started", None, None)
    written.run((0, 6), (6, 9))
    found = json.loads(written.command("status", "--json").stdout)
    assert (found["state"], found["rows"], found["dead"], found["out"]) == ("stopped", 9, 3, 6)
    assert found["dead_by_rule"] == {"small": 3}
    assert found["last_batch"] == {
        "batch": 1,
        "time": "2026-01-01T00:00:02+00:00",
        "seconds": 2.0,
        "rows": 3,
        "out": 2,
        "dead": 1,
    }
    assert found["rate"] == 9 / 4
    assert found["sources"][0]["lag"] == ROWS - 9
    assert found["broker_error"] is None
    text = written.command("status").stdout
    assert "rows\t9 in, 6 out, 3 dead, 0 dropped" in text
    assert "rows_of_" not in text
    events = EventFile(written.base / "events", "replay")
    counts = {"source": SourceCounts(3, 2, 0, 1)}
    time = "2026-01-01T00:02:00+00:00"
    events.append(Event("batch", time, "reported", "replay", "r2", 1, batch=0, sources=counts, out=2))
    text = written.command("status").stdout
    assert "rows\t9 in, 6 out, 3 dead, 0 dropped\nrows_of_replays\t3 in, 2 out, 1 dead, 0 dropped\n" in text


def test_status_without_a_broker_shows_the_files(
    broker: EmbeddedBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    written = Written(broker, tmp_path, "alone")
    written.run((0, 6), end=False)
    monkeypatch.setattr(client_configs, "_PATIENCE", {"bootstrap_timeout_ms": 200})
    result = written.command("status", "-b", "127.0.0.1:1")
    assert result.exit_code == 0, result.output
    assert "state\trunning or killed" in result.stdout
    assert "no broker responded, so the lag is unknown" in result.stderr
    with (written.base / "stream.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert json.loads(written.command("status", "--json").stdout)["state"] == "running"
    assert json.loads(written.command("status", "--json").stdout)["state"] == "killed"


def test_audit_without_spark_names_what_does_not_add_up(broker: EmbeddedBroker, tmp_path: Path) -> None:
    written = Written(broker, tmp_path, "audited")
    written.run((0, 6), (6, 9))
    result = written.command("audit", "--no-recompute", "--titles")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[1] == "audited\t0\t0\t9\t9\t6\t0\t0\t3\t0"
    assert "balances: 9 in, 6 out, 0 filtered, 0 dropped, 3 dead" in result.stderr
    written.send_row(4)
    written.send_row(1_000)
    result = written.command("audit", "--no-recompute")
    assert result.exit_code == 1
    assert "audited-0: duplicated in the sink: offsets 4\n" in result.stdout
    assert "audited-0: row in the sink from a record that does not exist: offsets 1000\n" in result.stdout
    assert "rows out: 4 in the event, 5 in the audit" in result.stdout
    found = json.loads(written.command("audit", "--no-recompute", "--json", "--from", "6").stdout)
    assert [row["start"] for row in found["partitions"]] == [6]
    assert [fault["kind"] for fault in found["faults"]] == ["row_without_input"]
    assert written.command("audit", "--no-recompute", "--partition", "audited").exit_code == 2


def test_audit_on_real_topics_finds_skipped_offsets_and_missing_dead_letters(
    broker: EmbeddedBroker, tmp_path: Path
) -> None:
    written = Written(broker, tmp_path, "skipped")
    written.run((0, 4), (5, 12))
    (unread,) = json.loads(written.command("audit", "--no-recompute", "--json").stdout)["faults"]
    assert (unread["kind"], unread["ranges"]) == ("unexpected_in_sink", [[4, 5]])  # no micro-batch has read it
    written = Written(broker, tmp_path, "lost")
    written.run((0, 4), (5, 12))
    with KafkaAdminClient(**written.configs) as admin:
        admin.delete_records({TopicPartition("lost.out", 0): 3, TopicPartition("lost.dead", 0): 1})
    found = json.loads(written.command("audit", "--no-recompute", "--json").stdout)
    faults = found["faults"]
    assert "lost.out-0: records before offset 3 are deleted, so they count as missing" in found["notes"]
    assert {fault["kind"] for fault in faults} >= {"counts_differ", "skipped"}
    (skipped,) = [fault for fault in faults if fault["kind"] == "skipped"]
    assert (skipped["ranges"], skipped["detail"]) == ([[4, 5]], "micro-batches 0 and 1")


@pytest.mark.parametrize(
    ("changed", "options", "status", "told"),
    [
        ("source: {topic: wrong", (), 1, "source: there is no topic 'wronk'; did you mean 'wrong'?"),
        ("topic: wrong.out", (), 1, "sink: there is no topic 'wronk.out'; did you mean 'wrong.out'?"),
        ("", ("--partition", "wrongs:0"), 2, "pipeline wrong does not read topic 'wrongs'; did you mean 'wrong'?"),
        ("", ("--partition", "wrong.out:0"), 2, "pipeline wrong does not read topic 'wrong.out'"),
        ("", ("--partition", "wrong:3"), 1, "topic 'wrong' has only partition 0, but not 3"),
    ],
)
def test_audit_names_a_wrong_topic_before_it_starts_spark(
    broker: EmbeddedBroker,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    changed: str,
    options: tuple[str, ...],
    status: int,
    told: str,
) -> None:
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        missing = {"wrong", "wrong.out", "wrong.dead"} - set(admin.list_topics())
        admin.create_topics({topic: {"num_partitions": 1} for topic in missing})
    text = DECLARATION.format(name="wrong", servers=broker.bootstrap_servers)
    file = tmp_path / "wrong.yaml"
    file.write_text(text.replace(changed, changed.replace("wrong", "wronk"), 1) if changed else text, encoding="utf-8")
    monkeypatch.setattr(SessionChoice, "session", lambda *given: pytest.fail("Spark was started"))
    found = CliRunner().invoke(commands, ["pipeline", "audit", str(file), *options])
    assert (found.exit_code, found.stdout) == (status, "")
    assert told in found.stderr


def test_a_pipeline_object_does_what_the_commands_do(broker: EmbeddedBroker, tmp_path: Path) -> None:
    written = Written(broker, tmp_path, "object")
    written.run((0, 5), (5, ROWS))
    pipeline = Pipeline.load(written.file)
    status = pipeline.status()
    assert (status.state, status.totals.rows, status.sources[0].lag) == ("stopped", ROWS, 0)
    audit = pipeline.audit(recompute=False)
    assert audit.balances, [str(each) for each in audit.faults]
    assert (audit.total.records, audit.total.out, audit.total.dead) == (ROWS, 8, 4)
    part = pipeline.audit(recompute=False, partitions=[TopicPartition("object", 0)], start=3, end=6)
    assert [(each.start, each.end, each.balance.records) for each in part.partitions] == [(3, 6, 3)]
    letters = list(pipeline.dead_letters(rule="small", limit=2))
    assert [each.source and each.source.offset for each in letters] == [9, 6]
    assert [each.rules for each in pipeline.dead_letters(newest_first=False, start=1, end=2)] == [("small",)]
    assert pipeline.count_dead_letters().rules["small"].letters == 4
    assert pipeline.check().errors == ()
    with pytest.raises(IllegalStateError, match="comes from a YAML file: change the file"):
        pipeline.sink(kafka_sink("other"))
    with pytest.raises(IllegalStateError, match="comes from a YAML file: change the file"):
        pipeline.source(kafka_source("other"))


def test_a_pipeline_object_without_dead_letters() -> None:
    pipeline = Pipeline("p", kafka={"bootstrap.servers": "localhost:1"})
    pipeline.source(kafka_source("a"))
    pipeline.sink(kafka_sink("b", value_format="bytes"))
    with pytest.raises(InvalidDeclaration, match="pipeline p: it has no dead_letters"):
        pipeline.dead_letters()


def test_reset_deletes_what_the_pipeline_has_processed_but_no_other_files(
    broker: EmbeddedBroker, tmp_path: Path
) -> None:
    written = Written(broker, tmp_path, "over")
    written.run((0, 6))
    partition = TopicPartition("over.dead", 0)
    RunDirectory(written.base / "replays", "replay").add({}, [{partition: (0, 2)}])
    (written.base / "stream").mkdir()
    (written.base / "spark-run.log").write_text("log")
    (written.base / "mine.txt").write_text("mine")
    with run_lock(written.base / "stream.lock", "run of this pipeline"):
        refused = written.command("reset")
    assert refused.exit_code == 1
    assert "another run of this pipeline is running" in refused.stderr
    assert (written.base / "events").exists()
    result = written.command("reset", "--json")
    assert result.exit_code == 0, result.output
    names = ["stream", "events", "replays"]
    assert json.loads(result.stdout) == {"pipeline": "over", "deleted": [str(written.base / name) for name in names]}
    assert [path.name for path in written.base.iterdir()] == ["mine.txt"]
    assert json.loads(written.command("status", "--json").stdout)["state"] == "never started"
    (written.base / "mine.txt").unlink()
    assert written.command("reset").stderr == "over: the next run starts over\n"
    assert not written.base.exists()


def test_reset_lets_a_query_with_another_checkpoint_write_the_transactions(
    broker: EmbeddedBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = Written(broker, tmp_path, "released")
    groups = [decision_group("released", 0), decision_group("other", 0)]
    (decided,) = to_parts(Decision("query", "run", 7, "/checkpoint", 0, ()), "released")
    for group in groups:
        with KafkaConsumer(group_id=group, **written.configs) as consumer:
            consumer.commit({TopicPartition("released", 0): OffsetAndMetadata(1, decided, -1)})
    assert written.command("reset").exit_code == 0
    with KafkaAdminClient(**written.configs) as admin:
        left = {group: len(admin.list_consumer_group_offsets(group)) for group in groups}
    assert left == {groups[0]: 0, groups[1]: 1}
    monkeypatch.setattr(client_configs, "_PATIENCE", {"bootstrap_timeout_ms": 200})
    written.run((0, 6))
    assert written.command("reset", "-b", "127.0.0.1:1").exit_code == 3
    assert (written.base / "events").exists(), "nothing is deleted"
