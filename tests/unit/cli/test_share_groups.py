"""`kafka consume --share-group` on the embedded broker: acknowledgements, and rejected options."""

import pathlib
from collections.abc import Callable

import pytest

from kafka import KafkaShareConsumer, TopicPartition
from kafka.cli.consume.record_sink import RecordSink
from kafka.errors import InvalidRecordStateError
from unit.cli.cli_support import Cli

pytestmark = pytest.mark.once
MakeTopic = Callable[..., str]


@pytest.fixture
def group(cli: Cli, topic: MakeTopic) -> str:
    """A topic with ten records, and a share group of the same name that starts at the first."""
    name = topic()
    cli("produce", name, stdin="".join(f"{number}\n" for number in range(10)))
    cli("configs", "alter", "group", name, "share.auto.offset.reset=earliest")
    return name


def lines(*numbers: int) -> str:
    return "".join(f"{number}\n" for number in numbers)


def rest(cli: Cli, group: str) -> str:
    """Return the records that the group has not accepted, each with its delivery count, including this delivery."""
    with KafkaShareConsumer(group, bootstrap_servers=cli.bootstrap_servers, group_id=group) as consumer:
        found: list[str] = []
        cli("produce", group, stdin="last\n")
        while "last" not in "".join(found):
            for records in consumer.poll(timeout_ms=1000).values():
                found += [f"{record.value.decode()}:{record.delivery_count}" for record in records]
        consumer.commit()
    return " ".join(sorted(found))


def test_written_records_are_accepted_and_acquisition_is_limited(cli: Cli, group: str) -> None:
    assert cli("consume", group, "--share-group", group, "-n", "3") == lines(0, 1, 2)
    assert cli("consume", group, "--share-group", group, "-n", "2", "--json").count('"value"') == 2
    assert rest(cli, group) == "5:1 6:1 7:1 8:1 9:1 last:1"


def test_it_ends_after_the_idle_timeout(cli: Cli, group: str) -> None:
    assert cli("consume", group, "--share-group", group, "--idle-timeout", "0") == lines(*range(10))
    assert cli("consume", group, "--share-group", group, "--idle-timeout", "0") == ""


def test_filtered_records_are_accepted_and_unexamined_ones_released(cli: Cli, group: str) -> None:
    assert cli("consume", group, "--share-group", group, "-n", "1", "--grep", "[5-9]") == lines(5)
    assert rest(cli, group) == "6:1 7:1 8:1 9:1 last:1"


@pytest.mark.skipif(not pathlib.Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("form", ["text", "arrow"])
def test_records_that_were_not_written_are_released(cli: Cli, group: str, form: str) -> None:
    arguments = ["consume", group, "--share-group", group, "-f", form]
    assert "No space left on device" in cli.fails(*arguments, "-o", "/dev/full")
    assert rest(cli, group) == "0:2 1:2 2:2 3:2 4:2 5:2 6:2 7:2 8:2 9:2 last:1"


@pytest.mark.parametrize("moment", ["before", "after"])
def test_ctrl_c_accepts_written_records_and_releases_the_others(
    cli: Cli, group: str, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    written = RecordSink._put

    def interrupted_before(sink: RecordSink, *given: object) -> None:
        raise KeyboardInterrupt

    def interrupted_after(sink: RecordSink, data: bytes) -> None:
        written(sink, data)
        if data:
            sink._whole._pending = KeyboardInterrupt()  # as set by its signal handler

    if moment == "before":
        monkeypatch.setattr(RecordSink, "write", interrupted_before)
    else:
        monkeypatch.setattr(RecordSink, "_put", interrupted_after)
    result = cli.run("consume", group, "--share-group", group, "-n", "4")
    assert (result.exit_code, result.stdout) == (130, "" if moment == "before" else lines(0, 1, 2, 3))
    monkeypatch.undo()
    assert (
        rest(cli, group)
        == {
            "before": "0:2 1:2 2:2 3:2 4:1 5:1 6:1 7:1 8:1 9:1 last:1",
            "after": "4:1 5:1 6:1 7:1 8:1 9:1 last:1",
        }[moment]
    )


def test_written_records_that_will_be_redelivered_are_reported_once(
    cli: Cli, group: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    callbacks = []
    take = KafkaShareConsumer.set_acknowledgement_commit_callback
    monkeypatch.setattr(
        KafkaShareConsumer,
        "set_acknowledgement_commit_callback",
        lambda consumer, callback: (callbacks.append(callback), take(consumer, callback)),
    )

    def interrupted(sink: RecordSink, *given: object) -> None:
        for _ in range(2):
            callbacks[0]({TopicPartition(group, 0): {1, 2}}, InvalidRecordStateError("the lock has run out"))
            callbacks[0]({TopicPartition(group, 0): {3}}, None)
        raise KeyboardInterrupt

    monkeypatch.setattr(RecordSink, "write", interrupted)
    told = cli.run("consume", group, "--share-group", group).stderr
    assert told.startswith(f"2 records of {group}:0 were written but will be delivered again"), told
    assert told.count("the lock has run out") == 1, told


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--from", "earliest"],
            "--from and --share-group are mutually exclusive: set it on the group: 'kafka ",
        ),
        (["--from", "0"], "kafka configs alter group g share.auto.offset.reset=earliest"),
        (["--to", "latest"], "--to and --share-group"),
        (["--to", "0"], "--to and --share-group"),
        (["--last", "5"], "--last and --share-group"),
        (["-p", "0"], "--partition and --share-group"),
        (["-g", "h"], "--group and --share-group"),
        (["-i", "me"], "--group-instance-id and --share-group"),
        (["--read-committed"], "share.isolation.level=read_committed"),
        (["-f", "parquet", "-o", "x.parquet"], "parquet and --share-group"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
def test_options_that_share_groups_do_not_support_exit_with_2(cli: Cli, options: list[str], said: str) -> None:
    assert said in cli.fails("consume", "x", "--share-group", "g", *options, status=2)


def test_to_0_is_rejected_with_a_group(cli: Cli) -> None:
    assert "--to and --group" in cli.fails("consume", "x", "-g", "g", "--to", "0", status=2)
