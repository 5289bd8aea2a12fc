"""The command line as processes, on both brokers: daily work, pipes, Ctrl-C, logins and access control."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

import kafka
from harness.topics import new_topic_name
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.partitioner.murmur2 import murmur2

KAFKA = [sys.executable, "-m", "kafka"]
LIMIT_S = 60


class Cli:
    """Runs commands as processes."""

    def __init__(self, bootstrap_servers: str) -> None:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("KAFKA_") or "PURE" in name}
        self.env = {**clean, "KAFKA_BOOTSTRAP_SERVERS": bootstrap_servers, "XDG_CONFIG_HOME": "/no/such"}

    def run(self, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*KAFKA, *arguments],
            env=self.env,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT_S,
        )

    def __call__(self, *arguments: str, stdin: str = "") -> str:
        done = self.run(*arguments, stdin=stdin)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    def json(self, *arguments: str):
        return json.loads(self(*arguments, "--json"))

    def start(self, *arguments: str, **pipes) -> subprocess.Popen[bytes]:
        return subprocess.Popen([*KAFKA, *arguments], env=self.env, **pipes)


@pytest.fixture
def cli(broker) -> Cli:
    return Cli(broker.bootstrap_servers)


def test_a_day_s_work(cli, tmp_path):
    name = new_topic_name()
    assert cli("topics", "create", name, "-p", "2", "-c", "retention.ms=-1") == f"{name}: created\n"
    lines = "".join(f"k{i}:v{i}\n" for i in range(100))
    cli("produce", name, "-K", ":", "-z", "lz4", "-H", "from=test", stdin=lines)
    assert sorted(cli("consume", name, "-K", ":").splitlines()) == sorted(lines.split())
    assert cli("consume", name, "--key", "k7", "--header", "from=test", "-f", "%k=%s %h\\n") == "k7=v7 from=test\n"
    for suffix in ("parquet", "csv", "jsonl"):
        file = tmp_path / f"records.{suffix}"
        done = cli.run("consume", name, "-o", str(file))
        assert (done.returncode, done.stderr.partition(" ")[0]) == (0, "100")
        done = cli.run("produce", f"{name}-{suffix}", str(file))
        assert done.returncode == 0, done.stderr
        assert f"topic {name}-{suffix} did not exist, so the broker created it" in done.stderr
        assert len(cli("consume", f"{name}-{suffix}").splitlines()) == 100
    told = cli.json("topics", "describe", name)[0]["partitions"]
    assert sum(part["offsets"] for part in told) == 100
    assert all(part["bytes"] > 0 for part in told)
    copied = cli.run("copy", name, f"{name}-copy", "--json")  # may warn: a new cluster has no coordinator yet
    assert copied.returncode == 0, copied.stderr
    assert json.loads(copied.stdout)["records"] == 100
    assert sorted(cli("consume", f"{name}-copy", "-K", ":").splitlines()) == sorted(lines.split())
    assert cli.json("configs", "describe", "topic", name)[0]["config"] == "retention.ms"
    assert cli.run("doctor", "--cluster").returncode in (0, 1)
    cli("topics", "delete", name, "-y")
    assert cli.run("consume", name).returncode == 1


@pytest.mark.needs(broker=(2, 8), why="topic ids (KIP-516)")
@pytest.mark.parametrize("partitions", [1, 3, 5], ids=["fewer", "as many", "more"])
def test_produce_goes_on_with_a_topic_that_is_made_again(cli, broker, make_topic, partitions):
    topic = make_topic(3)
    keys = [b"key-%d" % number for number in range(30)]
    lines = b"".join(b"%s:v\n" % key for key in keys)
    with (
        KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
        cli.start("produce", topic, "-K", ":", stdin=subprocess.PIPE, stderr=subprocess.PIPE) as sending,
    ):
        try:
            sending.stdin.write(lines)
            sending.stdin.flush()
            wait_until(lambda: sum(written(broker, topic).values()) == len(keys))
            make_again(admin, topic, partitions)
            sending.stdin.write(lines)
            sending.stdin.close()
            assert (sending.wait(LIMIT_S), sending.stderr.read().count(b"was deleted and recreated")) == (0, 1)
        finally:
            sending.kill()
    placed = [(key, (murmur2(key) & 0x7FFFFFFF) % partitions) for key in keys]
    assert written(broker, topic) == Counter(placed)


@pytest.mark.needs(broker=(2, 8), why="topic ids (KIP-516)")
def test_produce_to_a_partition_that_a_topic_lost_as_it_was_made_again_fails(cli, broker, make_topic):
    topic = make_topic(3)
    with (
        KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
        cli.start("produce", topic, "-p", "2", stdin=subprocess.PIPE, stderr=subprocess.PIPE) as sending,
    ):
        try:
            sending.stdin.write(b"one\n")
            sending.stdin.flush()
            wait_until(lambda: sum(written(broker, topic).values()) == 1)
            make_again(admin, topic, 1)
            sending.stdin.write(b"two\n")
            sending.stdin.close()
            assert sending.wait(LIMIT_S) == 2
            assert re.search(rb"has partitions 0 to 0( now)?, but partition is 2", sending.stderr.read())
        finally:
            sending.kill()
    assert written(broker, topic) == Counter()


def written(broker, topic) -> Counter[tuple[bytes | None, int]]:
    """Key and partition of each record that a topic has."""
    return Counter((each.key, each.partition) for each in kafka.read(topic, bootstrap_servers=broker.bootstrap_servers))


def make_again(admin, topic, partitions):
    admin.delete_topics([topic])
    wait_until(lambda: topic not in admin.list_topics())
    admin.create_topics({topic: {"num_partitions": partitions}}, wait_for_metadata=True)


def test_groups_go_on_and_are_moved(cli, make_topic):
    name = make_topic(2)
    cli("produce", name, stdin="".join(f"{i}\n" for i in range(50)))
    first = cli("consume", name, "-g", name, "-n", "20").splitlines()
    rest = cli("consume", name, "-g", name, "--idle-timeout", "3s").splitlines()
    assert sorted(map(int, first + rest)) == list(range(50))
    assert sum(row["lag"] for row in cli.json("groups", "lag", name)) == 0
    planned = cli.json("groups", "reset", name, "--to", "earliest", "--dry-run")
    assert {row["new"] for row in planned} == {0}
    cli("groups", "reset", name, "--to", "1h")
    assert sum(row["lag"] for row in cli.json("groups", "lag", name)) == 50
    cli("groups", "delete", name, "-y")
    assert name not in cli("groups", "list")


def test_ctrl_c_leaves_the_group_with_what_was_written_and_the_file_whole(cli, broker, make_topic, tmp_path):
    name, file = make_topic(), tmp_path / "out.txt"
    options = {"bootstrap_servers": broker.bootstrap_servers}
    with KafkaProducer(**options) as producer, KafkaAdminClient(**options) as admin:
        process = cli.start("consume", name, "-g", name, "-o", str(file), stderr=subprocess.PIPE)
        for number in range(2000):
            producer.send(name, b"record %d" % number)
        producer.flush()
        wait_until(lambda: file.exists() and file.stat().st_size > 0)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=LIMIT_S)
        assert process.returncode == 130
        assert b"Traceback" not in said
        lines = file.read_text().splitlines(keepends=True)
        assert lines == [f"record {number}\n" for number in range(len(lines))]
        (committed,) = admin.list_group_offsets([name])[name].values()
        assert committed.offset == len(lines)
        assert admin.describe_groups([name])[name]["members"] == []


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_parquet_file_is_whole_after_an_interrupt(cli, make_topic, tmp_path, number, status):
    import pyarrow.parquet

    name, file = make_topic(), tmp_path / "out.parquet"
    cli("produce", name, stdin="a\nb\n")
    process = cli.start("consume", name, "--follow", "--from", "earliest", "-o", str(file), stderr=subprocess.PIPE)
    wait_until(file.exists)
    process.send_signal(number)
    process.communicate(timeout=LIMIT_S)
    assert process.returncode == status
    assert set(pyarrow.parquet.read_table(file)["value"].to_pylist()) <= {b"a", b"b"}


@pytest.mark.parametrize("form", ["text", "parquet"])
def test_a_pipe_that_nobody_reads_any_more_ends_it_without_a_word(cli, make_topic, form):
    name = make_topic()
    noise = random.Random(1)  # so that a compressed file does not fit into the pipe either
    cli("produce", name, stdin="".join(f"{number:04}{noise.randbytes(100).hex()}\n" for number in range(5000)))
    process = cli.start("consume", name, "-f", form, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.read(4) == {"text": b"0000", "parquet": b"PAR1"}[form]
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert (process.wait(LIMIT_S), said) == (1, b"")


def test_lines_are_sent_as_they_come_and_ctrl_c_loses_none(cli, broker, make_topic):
    name = make_topic()
    process = cli.start("produce", name, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    with KafkaConsumer(name, bootstrap_servers=broker.bootstrap_servers, auto_offset_reset="earliest") as consumer:
        for number in range(3):
            process.stdin.write(b"line %d\n" % number)
            process.stdin.flush()
            assert next(consumer).value == b"line %d" % number
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=LIMIT_S)
    assert (process.returncode, said.strip()) == (130, b"")


def test_what_follows_is_written_at_once(cli, make_topic):
    name = make_topic()
    cli("produce", name, stdin="before\n")
    process = cli.start("consume", name, "--follow", "--last", "1", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.readline() == b"before\n"
    cli("produce", name, stdin="after\n")
    assert process.stdout.readline() == b"after\n"
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=LIMIT_S)
    assert process.returncode == 130


@pytest.mark.needs(broker=(4, 2), why="share groups (KIP-932)")
def test_ctrl_c_accepts_what_a_share_group_s_member_has_written_and_releases_the_rest(cli, make_topic, tmp_path):
    name, file = make_topic(), tmp_path / "out.txt"
    cli("configs", "alter", "group", name, "share.auto.offset.reset=earliest")
    cli("produce", name, stdin="".join(f"{number}\n" for number in range(3000)))
    process = cli.start("consume", name, "--share-group", name, "-o", str(file), stderr=subprocess.PIPE)
    wait_until(lambda: file.exists() and file.stat().st_size > 0)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=LIMIT_S)
    assert (process.returncode, b"Traceback" in said) == (130, False), said
    rest = cli("consume", name, "--share-group", name, "--idle-timeout", "3s").splitlines()
    assert sorted(map(int, file.read_text().splitlines() + rest)) == list(range(3000))


@pytest.mark.needs(broker=(4, 2), why="share groups (KIP-932)")
def test_what_nobody_reads_any_more_goes_to_another_member(cli, make_topic):
    name = make_topic()
    cli.env["PYTHONUNBUFFERED"] = "1"  # a write may end in the middle then
    cli("configs", "alter", "group", name, "share.auto.offset.reset=earliest")
    cli("produce", name, stdin="".join(f"{number:0200000}\n" for number in range(3)))  # more than a pipe holds
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = cli.start("consume", name, "--share-group", name, **pipes)
    assert process.stdout.read(4) == b"0000"
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert (process.wait(LIMIT_S), said) == (1, b"")
    again = cli("consume", name, "--share-group", name, "-n", "3").splitlines()
    assert sorted(line[-1] for line in again) == ["0", "1", "2"]


def test_a_follower_whose_output_nobody_reads_ends_without_another_record(cli, make_topic):
    name = make_topic()
    cli("produce", name, stdin="only\n")
    following = ("consume", name, "--follow", "--from", "earliest")
    process = cli.start(*following, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.readline() == b"only\n"
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert (process.wait(LIMIT_S), said) == (1, b"")


def test_kafka_python_s_way_to_call_it(cli, make_topic):
    name = make_topic()
    servers = cli.env.pop("KAFKA_BOOTSTRAP_SERVERS")
    produce = [sys.executable, "-m", "kafka.producer", "-b", servers, "-t", name]
    subprocess.run(produce, env=cli.env, input=b"one\ntwo\n", check=True, timeout=LIMIT_S)
    consume = [sys.executable, "-m", "kafka.consumer", "-b", servers, "-t", name, "-C", "auto_offset_reset=earliest"]
    consume += ["--from", "earliest", "-f", "raw", "-n", "2"]
    done = subprocess.run(consume, env=cli.env, capture_output=True, text=True, check=True, timeout=LIMIT_S)
    assert done.stdout == "b'one'\nb'two'\n"
    admin = [sys.executable, "-m", "kafka.admin", "-b", servers, "--format", "json", "topics", "describe", "-t", name]
    done = subprocess.run(admin, env=cli.env, capture_output=True, text=True, check=True, timeout=LIMIT_S)
    assert json.loads(done.stdout)[0]["topic"] == name


def test_nothing_there_is_status_3(cli):
    done = cli.run("-b", "127.0.0.1:1", "topics", "list")
    assert done.returncode == 3
    assert done.stderr.startswith("Error: none of the bootstrap servers (127.0.0.1:1)")
    assert done.stderr.count("\n") == 1


@pytest.fixture(scope="module")
def guarded(java_tools, tmp_path_factory):
    """An Apache Kafka where users log in, with an authorizer, and with TLS."""
    from harness.apache import ApacheKafka

    properties = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
    }
    folder = tmp_path_factory.mktemp("apache-kafka-cli")
    listeners = ("plaintext", "sasl", "ssl")
    with ApacheKafka(folder, version=java_tools.version, listeners=listeners, properties=properties) as kafka:
        yield kafka


@pytest.mark.apache
@pytest.mark.needs(broker=(4, 0), why="KRaft")
def test_users_acls_and_quotas_decide_who_may_do_what(guarded, tmp_path: Path):
    root, name = Cli(guarded.bootstrap_servers), new_topic_name()
    root("topics", "create", name)
    assert root("users", "set", "bob", "-m", "SCRAM-SHA-256", stdin="s3cret\n") == "bob: set\n"
    wait_until(lambda: "bob\tSCRAM-SHA-256" in root("users", "list"))  # brokers learn of it a little later

    bob = Cli(guarded.bootstrap("sasl"))
    (tmp_path / "client.properties").write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-256\nsasl.jaas.config="
        'org.apache.kafka.common.security.scram.ScramLoginModule required username="bob" password="s3cret";\n'
    )
    as_bob = ("--config", str(tmp_path / "client.properties"))
    refused = bob.run("produce", name, *as_bob, stdin="no\n")
    assert refused.returncode == 1
    assert "TopicAuthorizationFailedError" in refused.stderr
    wrong = bob.run("topics", "list", *as_bob, "-P", "wrong")
    assert wrong.returncode != 0
    assert "s3cret" not in wrong.stderr + refused.stderr

    access = ("--principal", "User:bob", "--resource-type", "topic", "--resource-name", name)
    for operation in ("read", "write"):
        root("acls", "create", "--operation", operation, *access)
    wait_until(lambda: len(root("--no-titles", "acls", "list", "--principal", "User:bob").splitlines()) == 2)
    wait_until(lambda: bob.run("produce", name, *as_bob, stdin="yes\n").returncode == 0)
    assert bob("consume", name, *as_bob, "-n", "1") == "yes\n"
    assert len(root("--no-titles", "acls", "delete", *access, "-y").splitlines()) == 2

    root("quotas", "set", "--user", "bob", "consumer_byte_rate=1048576")
    listed = [{"entity": {"user": "bob"}, "quota": "consumer_byte_rate", "value": 1048576.0}]
    wait_until(lambda: root.json("quotas", "list", "--user", "bob") == listed)
    root("quotas", "delete", "--user", "bob", "consumer_byte_rate")
    wait_until(lambda: root.json("quotas", "list") == [])
    assert root("users", "delete", "bob", "-m", "SCRAM-SHA-256", "-y") == "bob: deleted\n"


def wait_until(condition) -> None:
    """Look again and again; the test's own limit ends it."""
    pause = threading.Event()
    while not condition():
        pause.wait(0.1)


@pytest.mark.apache
@pytest.mark.needs(broker=(4, 0), why="KRaft")
def test_leaders_are_elected_and_partitions_moved(apache_kafka, make_topic_on):
    cli, name = Cli(apache_kafka.bootstrap_servers), make_topic_on(apache_kafka)()
    assert cli("partitions", "elect", "-p", f"{name}:0", "--no-titles") == f"{name}\t0\talready the leader\n"
    broker = cli.json("partitions", "describe", name)[0]["leader"]
    assert cli("partitions", "move", f"{name}:0={broker}", "--no-titles") == f"{name}\t0\t{broker}\t\n"
    assert cli("partitions", "moves", "--no-titles") == ""
    refused = cli.run("partitions", "move", f"{name}:0=4711", "--no-titles")
    assert (refused.returncode, refused.stdout.split("\t")[3]) == (1, "InvalidReplicationAssignmentError\n")
    assert cli.json("cluster", "quorum")["topics"]


@pytest.mark.apache
@pytest.mark.needs(broker=(4, 0), why="KRaft")
def test_the_doctor_tells_what_tls_has_agreed_on_and_what_is_wrong_with_it(guarded):
    cli, authority = Cli(guarded.bootstrap("ssl")), str(guarded.tls_folder / "ca.pem")
    well = cli.json("doctor", "-S", "SSL", "-X", f"ssl_cafile={authority}")["cluster"]
    assert well["problems"] == []
    for row in (*well["bootstrap"], *well["brokers"]):
        assert row["tls"]["version"].startswith("TLSv1.")
        assert "127.0.0.1" in row["tls"]["names"]
        assert row["tls"]["until"]
    without = cli.run("doctor", "-S", "SSL")
    assert without.returncode == 1
    assert "certificate" in without.stdout
    clear = cli.run("doctor", "-X", "bootstrap_timeout_ms=2000", "-S", "PLAINTEXT")
    assert clear.returncode == 1
    assert "Traceback" not in clear.stderr + without.stderr
    login = Cli(guarded.bootstrap("sasl")).run("doctor", "-S", "SASL_PLAINTEXT", "-U", "nobody", "-P", "hunter2")
    assert login.returncode == 1
    assert "hunter2" not in login.stdout + login.stderr
