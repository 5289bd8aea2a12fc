"""Error messages of the command line: they state the cause once, name the option, and contain no Python terms."""

from __future__ import annotations

import pytest

from unit.cli.cli_support import Cli

pytestmark = pytest.mark.once
MESSAGES = [
    ("topics create there", 1, "Topic 'there' already exists (TopicAlreadyExistsError)"),
    ("topics create x -p 99999999999", 2, "expected a whole number from -1 to 2147483647, got '99999999999'"),
    ("topics describe thre", 1, "there is no topic 'thre'; did you mean 'there'?"),
    ("topics delete thre", 1, "topic 'thre'"),
    ("topics alter thre -p 4", 1, "there is no topic 'thre'; did you mean 'there'?"),
    ("offsets list thre", 1, "there is no topic 'thre'; did you mean 'there'?"),
    ("offsets trim thre --before 1", 1, "there is no topic 'thre'; did you mean 'there'?"),
    ("partitions describe thre", 1, "there is no topic 'thre'; did you mean 'there'?"),
    ("partitions create thre:4", 1, "there is no topic 'thre'; did you mean 'there'?"),
    ("configs alter topic thre retention.ms=1", 1, "there is no topic 'thre'; did you mean 'there'?"),
    ("configs alter topic there retention.mss=1", 2, "retention.mss; did you mean 'retention.ms'?"),
    ("configs describe topc there", 2, "got 'topc'; did you mean 'topic'?"),
    ("configs describe orders", 2, "got 'orders'; for a topic: topic orders"),
    ("copy there x/y", 2, "Error: 'x/y' is not a topic name: 1 to 249 characters of"),
    ("groups reset known -t there:99 --to 0", 1, "there is no partition there:99; see 'kafka topics describe there'"),
    ("groups set-offsets known -o there:99:0", 1, "there is no partition there:99"),
    ("copy thre x", 1, "there is no topic 'thre'; did you mean 'there'?"),
    ("consume thre", 1, "there is no topic 'thre' to read; did you mean 'there'?"),
    ("perf round-trip thre -n 1", 1, "there is no topic 'thre'; did you mean 'there'?"),
    ("groups delete knwn", 1, "knwn: The group does not exist (GroupIdNotFoundError); did you mean 'known'?"),
    ("groups remove-members knwn", 1, "there is no group 'knwn'; did you mean 'known'?"),
    ("groups reset known -t thre --to earliest", 1, "there is no topic 'thre'; did you mean 'there'?"),
    ("groups list --state Foo", 2, "--state: expected one of"),
    ("transactions list --state Foo", 2, "--state: expected one of"),
    ("transactions describe foo", 1, "there is no transactional id 'foo'; see 'kafka transactions list'"),
    ("pipeline chek x", 2, "No such command 'chek'. Did you mean 'check'?"),
    ("partitions reasign x", 2, "No such command 'reasign'. Did you mean 'move'?"),
    ("offsets order", 2, "No such command 'order'. The commands are list, trim."),
    ("topics list -b host:port", 2, "option '--bootstrap-servers' expects 'host:port' with a port from 1 to 65535"),
    ("copy there x --to-bootstrap-servers host:port", 2, "option '--to-bootstrap-servers' expects 'host:port'"),
    ("topics list -X bootstrap.servers=host:port", 2, "option 'bootstrap.servers' expects 'host:port'"),
    ("consume there -o orders.foo", 2, "orders.foo: no format has the extension .foo (known are .txt, .csv, .json"),
    ("consume there -o orders.parqet", 2, "extension .parqet; did you mean '.parquet'? (known are"),
    ("topics describe nope", 1, "there is no topic 'nope'; see 'kafka topics list'"),
    ("partitions describe nope", 1, "there is no topic 'nope'; see 'kafka topics list'"),
    (
        "groups describe nope",
        1,
        "Error: there is no group 'nope'; see 'kafka groups list' (GroupIdNotFoundError)",
    ),
    ("groups lag x --above five", 2, "Invalid value for '--above': expected a whole number of 0 or more, got 'five'"),
    ("groups delete nope", 1, "Error: nope: The group does not exist (GroupIdNotFoundError)"),
    ("groups remove-members nope", 1, "Error: there is no group 'nope'; see 'kafka groups list'"),
    ("configs alter topic there foo=1", 2, "Error: topic 'there': no settings that can be altered: foo"),
    ("configs alter topic nope retention.ms=1", 1, "Error: there is no topic 'nope'; see 'kafka topics list'"),
    ("configs alter foo there a=1", 2, "got 'foo'"),
    ("consume there --grep *x", 2, "--grep expects a regular expression, got '*x': nothing to repeat at position 0"),
    ("consume there --key-regex (", 2, "--key-regex expects a regular expression, got '(': missing )"),
    ("consume there -D \\q", 2, "--delimiter: \\q is not an escape"),
    ("consume there --encoding klingon", 2, "--encoding: unknown encoding: klingon"),
    ("produce there --encoding klingon", 2, "--encoding: unknown encoding: klingon"),
    ("produce there -K \\q", 2, "--key-separator: \\q is not an escape"),
    ("-S TLS topics list", 2, "'TLS' is not one of 'PLAINTEXT', 'SSL', 'SASL_PLAINTEXT', 'SASL_SSL'."),
    ("-X security_protocol=TLS topics list", 2, "one of 'PLAINTEXT', 'SSL', 'SASL_PLAINTEXT', 'SASL_SSL', not 'TLS'"),
    ("-X api_version=foo topics list", 2, "expects a broker version such as (2, 8), '2.8' or None, not 'foo'"),
    ("-X partitioner=foo produce there", 2, "option 'partitioner' expects a callable, an object with partition()"),
    ("-S SASL_PLAINTEXT -M scram-sha-512 -U a topics list", 2, "user 'a' has no password"),
    ("-S sasl_plaintext -M plain -U a -P b topics list", 1, "does not support SASL"),
]


@pytest.fixture(autouse=True)
def _there(cli: Cli) -> None:
    cli("topics", "create", "there", "--if-not-exists")
    cli("groups", "reset", "known", "-t", "there", "--to", "earliest")


@pytest.mark.parametrize(("command", "status", "expected"), MESSAGES, ids=[command for command, *_ in MESSAGES])
def test_the_last_line_says_what_is_wrong(cli: Cli, command: str, status: int, expected: str) -> None:
    told = cli.fails(*command.split(), status=status)
    assert expected in told
    for word in ("[Error", "ConfigResource", "Traceback", "Request v", "None of"):
        assert word not in told


def test_a_missing_partition_is_not_blamed_on_a_line(cli: Cli) -> None:
    result = cli.run("produce", "there", "-f", "json", "-p", "99", stdin='{"value": "x"}\n')
    assert result.stderr.splitlines()[-1] == "Error: topic 'there' has partitions 0 to 0, but partition is 99"


def test_a_topic_that_sending_creates_is_reported_with_a_similar_name(cli: Cli) -> None:
    assert "topic theer did not exist, so the broker created it; did you mean 'there'?" in (
        cli.run("produce", "theer", stdin="x\n").stderr
    )
    assert cli.run("produce", "theer", stdin="x\n").stderr == ""
    assert cli.run("produce", "there", "-f", "csv", stdin="a,b\n").stderr == (
        "no records were sent: the input has none\n"
    )
    cli("topics", "delete", "theer")


def test_a_group_that_waits_for_a_misspelt_topic_says_so(cli: Cli) -> None:
    result = cli.run("consume", "thre", "-g", "waiting", "--idle-timeout", "0.1")
    assert result.stderr.splitlines()[0] == "topic thre does not exist yet; did you mean 'there'?"
