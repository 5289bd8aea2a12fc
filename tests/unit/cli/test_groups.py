"""`kafka groups` and `kafka offsets` on the embedded broker."""

import json
from collections.abc import Callable

import pytest

from kafka import KafkaAdminClient, KafkaConsumer, KafkaShareConsumer
from kafka.errors import NoError
from kafka.structs import OffsetAndMetadata, TopicPartition
from unit.cli.cli_support import Cli

pytestmark = pytest.mark.once
MakeTopic = Callable[..., str]


@pytest.fixture
def group(cli: Cli, topic: MakeTopic) -> str:
    """A group named after its topic, without members, that has read six of ten records, one second apart."""
    name = topic()
    lines = [json.dumps({"value": f"{i}", "timestamp": 1_700_000_000_000 + 1000 * i}) for i in range(10)]
    cli("produce", name, "-f", "json", stdin="\n".join(lines))
    cli("consume", name, "-g", name, "-n", "6")
    return name


def test_groups_are_listed_by_state_and_type(cli: Cli, group: str) -> None:
    assert f"{group}\tclassic\tEmpty\tconsumer\n" in cli("groups", "list")
    assert group in cli("groups", "list", "--type", "classic", "--state", "Empty")
    assert group not in cli("groups", "list", "--state", "Stable")


def test_lag_is_the_number_of_unread_records(cli: Cli, group: str) -> None:
    assert cli("groups", "lag", group) == f"{group}\t{group}\t0\t6\t10\t4\t\t\n"
    assert cli("groups", "list-offsets", "-g", group, "--total") == f"{group}\t{group}\t4\n"
    assert {"group": group, "topic": group, "lag": 4} in cli.json("groups", "lag", "--total")


def test_a_similar_group_is_suggested(cli: Cli, group: str) -> None:
    told = cli.fails("groups", "lag", f"{group}x")
    assert told == f"Error: there is no group '{group}x'; did you mean '{group}'? (GroupIdNotFoundError)"


def test_a_group_without_offsets_is_named(cli: Cli, topic: MakeTopic) -> None:
    name = topic()
    with KafkaConsumer(name, bootstrap_servers=cli.bootstrap_servers, group_id=name, enable_auto_commit=False) as one:
        while not one.assignment():
            one.poll(100)
        said = f"group {name} has no committed offsets\n"
        for options in ((), ("--total",), ("--json",)):
            assert cli.run("groups", "lag", name, *options).stderr == said
        state = f"group {name}: classic, Stable, 1 member; use --json to list them\n"
        assert cli.run("groups", "describe", name).stderr == state + said
        assert cli.run("groups", "describe", name, "--json").stderr == ""


def test_commit_decisions_of_sparks_sink_have_no_lag(cli: Cli, group: str) -> None:
    decisions = f"{group}-decision"
    with KafkaAdminClient(bootstrap_servers=cli.bootstrap_servers) as admin:
        for name in (decisions, f"{decisions}.1", f"{group}-places"):
            offsets = {TopicPartition(group, 0): OffsetAndMetadata(3, "1/2/[]", None)}
            assert all(error is NoError for error in admin.alter_group_offsets(name, offsets).values())
    assert cli("groups", "lag", decisions) == f"{decisions}\t{group}\t0\t3\t10\t\t\t\n"
    assert cli("groups", "lag", f"{decisions}.1") == f"{decisions}.1\t{group}\t0\t3\t10\t\t\t\n"
    assert "\t7\t\t\n" in cli("groups", "lag", f"{group}-places")
    assert {"group": decisions, "topic": group, "lag": 0} in cli.json("groups", "lag", "--total", decisions)


@pytest.mark.parametrize("metadata", ["decided", "committed"])
def test_the_group_of_a_replay_has_no_lag(cli: Cli, group: str, metadata: str) -> None:
    write, reader = f"{group}-replay-1-{metadata}-batch-0", f"{group}-{metadata}"
    with KafkaAdminClient(bootstrap_servers=cli.bootstrap_servers) as admin:
        for name in (write, reader):
            admin.alter_group_offsets(name, {TopicPartition(group, 0): OffsetAndMetadata(0, metadata, None)})
    assert cli("groups", "lag", write) == f"{write}\t{group}\t0\t0\t10\t\t\t\n"
    assert "\t10\t10\t\t\n" in cli("groups", "lag", reader)


def test_members_are_described_with_their_partitions(cli: Cli, group: str) -> None:
    options = {"bootstrap_servers": cli.bootstrap_servers, "group_id": group, "client_id": "me"}
    with KafkaConsumer(group, **options) as consumer:
        while not consumer.assignment():
            consumer.poll(100)
        (described,) = cli.json("groups", "describe", group)
        reset = ("groups", "reset", group, "--to", "earliest")
        planned, done = cli.run(*reset, "--dry-run"), cli.run(*reset, "-y")
        set_to = cli.fails("groups", "set-offsets", group, "-o", f"{group}:0:2")
    assert described["state"] == "Stable"
    assert [(each["client"], each["partitions"]) for each in described["members"]] == [("me", [f"{group}:0"])]
    assert (described["offsets"][0]["client"], described["offsets"][0]["lag"]) == ("me", 4)
    titles = "group\ttopic\tpartition\tcommitted\tnew\terror\n"
    assert planned.stdout == done.stdout == f"{titles}{group}\t{group}\t0\t6\t0\tUnknownMemberIdError\n"
    assert planned.exit_code == done.exit_code == 1
    told = f"changed: the group has 1 member: stop it first; 'kafka groups describe {group}' shows it\n"
    assert planned.stderr == f"nothing was changed\nError: offsets would not be {told}"
    assert done.stderr == f"Error: offsets were not {told}"
    assert "the group has 1 member" in set_to


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--to", "earliest"], 0),
        (["--to", "latest"], 10),
        (["--to", "3"], 3),
        (["--to", "99"], 10),
        (["--to", "@1700000007500"], 8),
        (["--to", "2023-11-14T22:13:22+00:00"], 2),
        (["--to", "1h"], 10),
        (["--shift", "-2"], 4),
        (["--to-current"], 6),
        (["--to-earliest"], 0),
        (["--to-offset", "5", "--execute"], 5),
        (["--to-datetime", "2023-11-14T22:13:22+00:00"], 2),
        (["--by-duration", "PT1H"], 10),
        (["--shift-by", "1"], 7),
        (["--spec", "1700000007500"], 8),
        (["-s", "earliest"], 0),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
def test_a_group_is_reset_and_a_dry_run_shows_the_offsets(
    cli: Cli, group: str, options: list[str], expected: int
) -> None:
    titles = "group\ttopic\tpartition\tcommitted\tnew\terror\n"
    line = f"{group}\t{group}\t0\t6\t{expected}\t\n"
    planned = cli.run("groups", "reset", group, *options, "--dry-run")
    assert (planned.stdout, planned.stderr, planned.exit_code) == (titles + line, "nothing was changed\n", 0)
    assert cli.json("groups", "lag", group)[0]["committed"] == 6
    assert cli("groups", "reset-offsets", "-g", group, *options, "-t", group, "-y") == line
    assert cli.json("groups", "lag", group)[0]["committed"] == expected


def test_resetting_topics_creates_a_missing_group(cli: Cli, group: str) -> None:
    new = "fresh"  # not similar to other names
    assert "there is no group" in cli.fails("groups", "reset", new, "--to", "latest")
    assert "there is no group" in cli.fails("groups", "lag", new)
    reset = ("groups", "reset", new, "--to", "4", "-t", f"{group}:0")
    said = f"group {new} did not exist; it is created with these offsets\n"
    assert cli.run(*reset, "--dry-run").stderr == f"{said}nothing was changed\n"
    assert new not in cli("groups", "list")
    assert cli.run(*reset, "-y").stderr == said
    assert cli.run(*reset, "-y").stderr == ""
    assert cli("consume", group, "-g", new, "-n", "1") == "4\n"


def test_given_offsets_are_set_and_deleted(cli: Cli, group: str) -> None:
    cli("groups", "alter-offsets", "-g", group, "-o", f"{group}:0:2")
    assert cli.json("groups", "lag", group)[0]["committed"] == 2
    assert cli("groups", "delete-offsets", group, "-p", f"{group}:0", "-y") == f"{group}:0: deleted\n"
    assert cli.json("groups", "lag", group) == []


def test_groups_are_deleted(cli: Cli, group: str) -> None:
    assert cli("groups", "delete", group, "-y") == f"{group}: deleted\n"
    assert group not in cli("groups", "list")
    assert "GroupIdNotFound" in cli.run("groups", "delete", group, "-y").stderr


def test_members_are_removed(cli: Cli, group: str) -> None:
    options = {"bootstrap_servers": cli.bootstrap_servers, "group_id": group}
    with KafkaConsumer(group, **options) as consumer:
        while not consumer.assignment():
            consumer.poll(100)
        assert "deleted" in cli("groups", "remove-members", group, "-y", "--reason", "a test")


def test_share_groups_are_listed_described_reset_and_deleted(cli: Cli, topic: MakeTopic) -> None:
    name = topic()
    options = {"bootstrap_servers": cli.bootstrap_servers, "group_id": f"{name}-s"}
    with KafkaShareConsumer(name, **options) as consumer:
        consumer.poll(500)
        while not cli.json("groups", "lag", f"{name}-s"):
            consumer.poll(100)
        (described,) = cli.json("groups", "describe", f"{name}-s")
        assert (described["type"], described["members"][0]["partitions"]) == ("share", [f"{name}:0"])
        for option in ("--dry-run", "-y"):
            said = cli.fails("groups", "reset", f"{name}-s", "--to", "latest", option)
            assert "the group has 1 member: stop it first" in said
    cli("produce", name, stdin="a\nb\n")
    assert f"{name}-s\tshare\t" in cli("groups", "list", "--type", "share")
    moved = cli("groups", "reset", f"{name}-s", "--to", "latest", "-y")
    assert moved.split("\t")[4] == "2"
    assert cli.json("groups", "lag", f"{name}-s")[0]["committed"] == 2
    cli("groups", "delete", f"{name}-s", "-y")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["lag", "a", "--watch", "soon"], "got 'soon'"),
        (["reset", "a"], "--shift or --to-current as the new position of the group, got none of them"),
        (["reset", "a", "--to", "1", "--shift", "1"], "as the new position of the group, got more than one of them"),
        (["reset", "--to", "1"], "expected one group"),
        (["reset", "a", "--by-duration", "long"], "got 'long'"),
        (["describe"], "at least one group"),
        (["delete-offsets", "a", "-p", "t"], "TOPIC:PARTITION"),
        (["set-offsets", "a", "-o", "t:0"], "TOPIC:PARTITION:OFFSET"),
    ],
)
def test_wrong_use_exits_with_2(cli: Cli, arguments: list[str], said: str) -> None:
    assert said in cli.fails("groups", *arguments, status=2)


def test_a_missing_partition_gives_no_hint_about_members(cli: Cli, group: str) -> None:
    said = cli.fails("groups", "reset", group, "--to", "earliest", "-t", f"{group}:77")
    assert "UnknownTopicOrPartitionError" in said
    assert "the group has" not in said


def test_offsets_of_topics_and_times(cli: Cli, group: str) -> None:
    assert cli("offsets", "list", group) == f"{group}\t0\t0\t10\n"
    assert cli("offsets", "list", f"{group}:0", "--at", "@1700000007500") == f"{group}\t0\t0\t10\t8\n"
    assert cli("offsets", "list", "-t", group, "--at", "1h") == f"{group}\t0\t0\t10\t10\n"
    assert "no topic 'nowhere'" in cli.fails("offsets", "list", "nowhere")


def test_old_records_are_deleted(cli: Cli, group: str) -> None:
    assert cli("offsets", "trim", group, "--before", "3", "--dry-run") == f"{group}\t0\t3\n"
    assert cli("offsets", "list", group) == f"{group}\t0\t0\t10\n"
    assert cli("offsets", "trim", group, "--before", "3", "-y") == f"{group}\t0\t3\n"
    assert cli("offsets", "delete-records", "-r", f"{group}:0:5", "-y") == f"{group}\t0\t5\n"
    assert cli("consume", group) == "5\n6\n7\n8\n9\n"
    assert "expected TOPIC and --before" in cli.fails("offsets", "trim", group, status=2)


@pytest.mark.parametrize("where", [("-r", "{}:0:11"), ("{}", "--before", "11"), ("-r", "{}:0:-2")])
def test_nothing_is_deleted_if_an_offset_is_beyond_the_end(cli: Cli, group: str, where: tuple[str, ...]) -> None:
    typed = [each.format(group) for each in where]
    for more in ("--dry-run", "-y"):
        said = cli.fails("offsets", "trim", *typed, more)
        assert f"{group}:0, which has offsets 0 to 10" in said
        assert "nothing was deleted" in said
    assert cli("offsets", "list", group) == f"{group}\t0\t0\t10\n"


@pytest.mark.parametrize(
    ("where", "begin"), [(("-r", "{}:0:-1"), 10), (("{}", "--before", "latest"), 10), (("{}", "--before", "0"), 2)]
)
def test_a_dry_run_of_trim_shows_the_new_start_of_the_log(
    cli: Cli, group: str, where: tuple[str, ...], begin: int
) -> None:
    cli("offsets", "trim", group, "--before", "2", "-y")
    typed = [each.format(group) for each in where]
    assert cli("offsets", "trim", *typed, "--dry-run") == f"{group}\t0\t{begin}\n"
    assert cli("offsets", "list", group) == f"{group}\t0\t2\t10\n"
    assert cli("offsets", "trim", *typed, "-y") == f"{group}\t0\t{begin}\n"
    assert cli("offsets", "list", group) == f"{group}\t0\t{begin}\t10\n"
