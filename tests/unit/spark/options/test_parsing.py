"""Parsing options, and rejecting wrong ones by name before anything runs."""

import dataclasses
import pickle
from collections.abc import Mapping

import pytest

from kafka.errors import KafkaConfigurationError
from kafka.spark.options.field_options import FieldOptions, TypedOptions
from kafka.spark.options.option_table import OPTIONS, Use
from kafka.spark.options.parsing import (
    ExactlyOnceOptions,
    ReadOptions,
    WriteOptions,
    check_names,
    check_read,
    log_warnings,
    parse_read,
    parse_write,
    read_columns,
    requested_columns,
)
from kafka.spark.options.row_schema import COLUMNS, not_null
from kafka.spark.options.value_parsers import (
    EARLIEST,
    LATEST,
    AtOffsets,
    AtTime,
    AtTimes,
    Everywhere,
    Matching,
    Partitions,
    Topics,
    delay_ms,
)
from kafka.structs import TopicPartition

pytestmark = pytest.mark.once

BASE = {"kafka.bootstrap.servers": "localhost:9092", "subscribe": "t"}
SINK = {"kafka.bootstrap.servers": "localhost:9092"}


def lowered(options: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in options.items()}


def read(streaming: bool = True, **options: str):
    return parse_read(lowered({**BASE, **options}), streaming=streaming)


def refusal(streaming: bool = True, **options: str) -> str:
    with pytest.raises(KafkaConfigurationError) as caught:
        read(streaming, **options)
    return str(caught.value)


def test_defaults_are_those_of_sparks_connector():
    stream, batch = read(), read(streaming=False)
    assert stream.start == Everywhere("startingOffsets", LATEST)
    assert batch.start == Everywhere("startingOffsets", EARLIEST)
    assert batch.end == Everywhere("endingOffsets", LATEST)
    assert stream.fail_on_data_loss
    assert (stream.poll_timeout_ms, stream.retries, stream.retry_interval_ms) == (120_000, 3, 1_000)
    assert (stream.max_offsets, stream.min_offsets, stream.max_delay_ms) == (None, None, 900_000)
    assert stream.columns == ("key", "value", "topic", "partition", "offset", "timestamp", "timestampType")


def test_every_option_of_the_table_is_parsed_where_it_applies():
    samples = {
        "kafka.bootstrap.servers": "h:1",
        "assign": '{"t":[0]}',
        "startingOffsets": "earliest",
        "endingOffsets": "latest",
        "startingOffsetsByTimestamp": '{"t":{"0":1}}',
        "endingOffsetsByTimestamp": '{"t":{"0":1}}',
        "startingOffsetsByTimestampStrategy": "latest",
        "failOnDataLoss": "false",
        "includeHeaders": "true",
        "reportLogBytes": "true",
        "includeTimestamp": "false",
        "invalidTimestamp": "null",
        "kafka.sasl.oauth.token.provider": "json:loads",
        "columns": "value,headers",
        "exactlyOnce": "false",
        "autoRegister": "false",
        "originalBytes": "true",
        "valueFormat": "long",
        "keyFormat": "string",
        "valueErrors": "null",
        "keyErrors": "column",
        "schemaRegistryUrl": "http://h:1",
    }
    typed = {"valueFormat": "avro", "keyFormat": "avro", "schemaRegistryUrl": "http://h:1"}
    together = {"schemaRegistryUser": "schemaRegistryPassword", "schemaRegistryPassword": "schemaRegistryUser"}
    for row in OPTIONS:
        value = samples.get(row.name, "1")
        base = SINK if row.name in ("subscribePattern", "assign") else BASE
        beside: dict[str, str] = {}
        if row.name.startswith(("schemaRegistry", "value", "key", "originalBytes")) and not row.name.endswith("Format"):
            beside = {**typed, **({together[row.name]: "1"} if row.name in together else {})}
            if row.name.endswith("Message"):
                beside |= {"valueFormat": "protobuf", "keyFormat": "protobuf"}
        base = {**base, **beside}
        for use, streaming in ((Use.STREAM, True), (Use.BATCH, False)):
            if use in row.uses:
                parse_read(lowered({**base, row.name: value}), streaming=streaming)
        if Use.SINK in row.uses:
            needed = {"exactlyOnce": "true", "transactionalIdPrefix": "p"} if "transactional" in row.name else {}
            parse_write(lowered({**SINK, **beside, **needed, row.name: value}))


def test_selections():
    assert read().selection == Topics(("t",))
    assert read(subscribe=" b, a ,b,").selection == Topics(("b", "a"))
    pattern = parse_read({**SINK, "subscribepattern": "flights-.*"}, streaming=True)
    assert pattern.selection == Matching("flights-.*", "flights-.*")
    assigned = parse_read({**SINK, "assign": '{"b":[1,0],"a":[2]}'}, streaming=True)
    assert assigned.selection == Partitions((TopicPartition("a", 2), TopicPartition("b", 0), TopicPartition("b", 1)))


@pytest.mark.parametrize(
    "options",
    [{}, {"subscribe": "a", "assign": '{"a":[0]}'}, {"subscribepattern": "a", "subscribe": "a"}],
)
def test_exactly_one_selection_is_required(options):
    with pytest.raises(KafkaConfigurationError, match="exactly one of the options 'subscribe'"):
        parse_read({**SINK, **options}, streaming=True)


def test_offsets_and_times():
    given = read(startingOffsets='{"t":{"0":42,"1":-2,"2":-1}}').start
    assert isinstance(given, AtOffsets)
    assert given.offsets == {
        TopicPartition("t", 0): 42,
        TopicPartition("t", 1): EARLIEST,
        TopicPartition("t", 2): LATEST,
    }
    assert read(startingTimestamp="17").start == AtTime("startingTimestamp", 17)
    by_time = read(startingOffsetsByTimestamp='{"t":{"0":5}}').start
    assert by_time == AtTimes("startingOffsetsByTimestamp", {TopicPartition("t", 0): 5})


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("2026-11-01", 1_793_491_200_000),
        ("2026-11-01 00:00:00", 1_793_491_200_000),
        ("2026-11-01T00:00:00.5Z", 1_793_491_200_500),
        ("2026-11-01T01:00+01:00", 1_793_491_200_000),
        ("1970-01-01", 0),
    ],
)
def test_times_may_be_dates(text, milliseconds):
    """They are in UTC, because Spark does not pass the session's time zone to a source in Python."""
    assert read(startingTimestamp=text).start == AtTime("startingTimestamp", milliseconds)
    by_time = read(startingOffsetsByTimestamp='{"t":{"0":"' + text + '"}}').start
    assert by_time == AtTimes("startingOffsetsByTimestamp", {TopicPartition("t", 0): milliseconds})


@pytest.mark.parametrize("text", ["1969-12-31", "01.11.2026", "2026-11-31"])
def test_invalid_times_are_rejected_with_the_expected_form(text):
    message = refusal(startingTimestamp=text)
    assert "milliseconds since 1970-01-01 UTC, or an ISO time such as 2026-11-01T00:00:00Z (UTC by default)" in message


def test_latest_and_earliest_are_rejected_if_a_batch_would_be_empty():
    for option in ("startingOffsets", "startingOffsetsByTimestamp"):
        for text in ('{"t":"latest"}', '{"t":{"0":-1}}'):
            assert f"{option!r} cannot be latest" in refusal(streaming=False, **{option: text})
    for option in ("endingOffsets", "endingOffsetsByTimestamp"):
        for text in ('{"t":"earliest"}', '{"t":{"0":-2}}'):
            assert f"{option!r} cannot be earliest" in refusal(streaming=False, **{option: text})


@pytest.mark.parametrize("option", ["databricks.serviceCredential", "databricks.serviceCredential.scope"])
def test_options_of_another_connector_are_rejected_with_a_replacement(option):
    assert "kafka.sasl.mechanism=AWS_MSK_IAM" in refusal(**{option: "x"})


def test_times_take_precedence_over_offsets_with_a_warning():
    both = read(startingTimestamp="17", startingOffsets="earliest", startingOffsetsByTimestamp='{"t":{"0":5}}')
    assert both.start == AtTime("startingTimestamp", 17)
    assert both.warnings == (
        "option 'startingOffsetsByTimestamp' has no effect because 'startingTimestamp' takes precedence",
        "option 'startingOffsets' has no effect because 'startingTimestamp' takes precedence",
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("startingOffsets", "erliest"),
        ("startingOffsets", '{"t":{"0":-3}}'),
        ("startingOffsets", '{"t":{"0":1.5}}'),
        ("startingOffsets", '{"t":{"0":true}}'),
        ("startingOffsets", '{"t":{"zero":1}}'),
        ("startingOffsets", '{"t":[0]}'),
        ("startingOffsets", '{"t":{"0":42}'),
        ("startingOffsets", "{}"),
        ("startingOffsetsByTimestamp", '{"t":{"0":-3}}'),
        ("startingOffsetsByTimestamp", '{"t":"40"}'),
        ("startingOffsetsByTimestamp", '{"t":{"0":"yesterday"}}'),
        ("startingOffsets", '{"t":{"0":"2026-11-01"}}'),
        ("startingOffsets", '{"t":"first"}'),
        ("invalidTimestamp", "zero"),
        ("startingOffsetsByTimestamp", "17"),
        ("startingTimestamp", "yesterday"),
        ("startingTimestamp", "-5"),
        ("startingOffsetsByTimestampStrategy", "earliest"),
        ("maxOffsetsPerTrigger", "0"),
        ("maxOffsetsPerTrigger", "many"),
        ("minPartitions", "-1"),
        ("maxTriggerDelay", "15 fortnights"),
        ("failOnDataLoss", "no"),
        ("includeHeaders", "1"),
        ("subscribe", " , "),
        ("kafkaConsumer.pollTimeoutMs", "0"),
        ("columns", "value,,key"),
        ("columns", "value,value"),
        ("kafka.bootstrap.servers", " "),
    ],
)
def test_a_wrong_value_is_refused_by_name(name, value):
    message = refusal(**{name: value})
    assert f"option {name!r}" in message
    assert repr(value) in message


@pytest.mark.parametrize("name", ["subscribePattern", "assign"])
@pytest.mark.parametrize("value", ["(", '[{"t":[-1]}', " "])
def test_a_wrong_selection_is_refused_by_name(name, value):
    with pytest.raises(KafkaConfigurationError, match=name):
        parse_read({**SINK, name.lower(): value}, streaming=True)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("startingoffset", "startingOffsets"),
        ("suscribe", "subscribe"),
        ("maxoffsetspertriger", "maxOffsetsPerTrigger"),
        ("bootstrap.servers", "kafka.bootstrap.servers"),
        ("topics", "topic"),
    ],
)
def test_an_unknown_option_is_refused_with_the_nearest_name(given, meant):
    with pytest.raises(KafkaConfigurationError, match=f"option '{given}' is unknown .* did you mean '{meant}'"):
        check_names({**BASE, given: "x"})


def test_a_path_is_rejected_with_advice():
    with pytest.raises(KafkaConfigurationError, match=r"not accept a path.*'subscribe' to read and 'topic' to write"):
        check_names({**BASE, "path": "flights"})


def test_a_catalog_table_is_rejected_with_advice():
    with pytest.raises(KafkaConfigurationError, match=r"cannot be a catalog table.* CREATE TEMPORARY VIEW"):
        check_names({"provider": "kafka_columnar", **BASE})


def test_sparks_own_options_are_accepted():
    check_names({**BASE, "checkpointlocation": "/somewhere"})


def test_a_read_is_checked_before_it_is_known_whether_it_is_a_stream():
    check_read({**BASE, "endingoffsets": "latest"})
    check_read({**BASE, "startingoffsets": "latest"})
    with pytest.raises(KafkaConfigurationError, match="option 'endingOffsets' expects"):
        check_read({**BASE, "endingoffsets": "now"})
    with pytest.raises(KafkaConfigurationError, match="option 'minPartitions' expects"):
        check_read({**BASE, "minpartitions": "few"})


def test_an_option_of_no_read_is_not_called_a_stream_option():
    with pytest.raises(KafkaConfigurationError, match="'topic' cannot be used for a read: it is for a write"):
        check_read({**BASE, "topic": "t"})


def test_the_time_to_look_for_brokers_can_be_set():
    given = {"kafka.bootstrap.timeout.ms": "1500"}
    assert dict(read(**given).configs)["bootstrap_timeout_ms"] == 1_500
    assert dict(parse_write({**SINK, **given}).configs)["bootstrap_timeout_ms"] == 1_500
    assert "'kafka.bootstrap.timeout.ms' expects" in refusal(**{"kafka.bootstrap.timeout.ms": "soon"})


def test_an_unsupported_pattern_is_rejected_by_name():
    with pytest.raises(KafkaConfigurationError, match=r"'subscribePattern' expects .*\(an intersection of classes"):
        parse_read({**SINK, "subscribepattern": "[a&&b]"}, streaming=True)


def test_missing_brokers_are_named():
    with pytest.raises(KafkaConfigurationError, match=r"'kafka\.bootstrap\.servers' is missing"):
        parse_read({"subscribe": "t"}, streaming=True)


@pytest.mark.parametrize("name", ["endingOffsets", "endingTimestamp", "endingOffsetsByTimestamp"])
def test_a_stream_rejects_an_end(name):
    assert f"option {name!r} cannot be used for a streaming read: a stream has no end" in refusal(**{name: "1"})


def test_a_batch_warns_about_limits_for_streams():
    given = read(streaming=False, maxOffsetsPerTrigger="5")
    assert given.max_offsets is None
    assert given.warnings == (
        "option 'maxOffsetsPerTrigger' has no effect on a batch read: it limits the batches of a stream",
    )


def test_a_warning_is_logged_once_per_process(caplog):
    for _ in range(2):
        log_warnings(read(streaming=False, minOffsetsPerTrigger="77").warnings)
    assert caplog.text.count("'minOffsetsPerTrigger' has no effect on a batch read") == 1


def test_a_batch_must_not_start_at_the_end_or_end_at_the_beginning():
    assert "'startingOffsets' cannot be latest" in refusal(streaming=False, startingOffsets="latest")
    assert "'startingOffsets' cannot be latest" in refusal(streaming=False, startingOffsets='{"t":{"0":-1}}')
    assert "'endingOffsets' cannot be earliest" in refusal(streaming=False, endingOffsets="earliest")
    assert "'endingOffsets' cannot be earliest" in refusal(streaming=False, endingOffsets='{"t":{"0":-2}}')


def test_contradictions_are_rejected():
    message = refusal(streaming=False, startingOffsets='{"t":{"0":9}}', endingOffsets='{"t":{"0":5}}')
    assert "ends t-0 at 5, before 'startingOffsets' starts it at 9" in message
    message = refusal(minOffsetsPerTrigger="10", maxOffsetsPerTrigger="5")
    assert "'minOffsetsPerTrigger' (10) must not be greater than 'maxOffsetsPerTrigger' (5)" in message
    assert "'includeHeaders' is false, but 'columns' names" in refusal(columns="headers", includeHeaders="false")
    assert "'includeHeaders' is true, but 'columns' leaves out" in refusal(columns="value", includeHeaders="true")


@pytest.mark.parametrize(
    "name",
    [
        "kafka.auto.offset.reset",
        "kafka.key.deserializer",
        "kafka.value.deserializer",
        "kafka.enable.auto.commit",
        "kafka.interceptor.classes",
    ],
)
def test_a_read_rejects_options_that_it_controls(name):
    assert f"option {name!r} is refused: " in refusal(**{name: "x"})


@pytest.mark.parametrize(
    "name", ["kafka.key.serializer", "kafka.value.serializer", "kafka.partitioner.class", "kafka.transactional.id"]
)
def test_a_write_rejects_options_that_it_controls(name):
    with pytest.raises(KafkaConfigurationError, match=f"option '{name}' is refused: "):
        parse_write({**SINK, name: "x"})


def test_reads_reject_options_of_writes_and_vice_versa():
    with pytest.raises(KafkaConfigurationError, match="'subscribe' cannot be used for a write: it is for"):
        parse_write({**SINK, "subscribe": "t"})
    assert "'topic' cannot be used for a streaming read: it is for a write" in refusal(topic="t")


def test_client_options_reach_the_clients_under_their_names():
    configs = dict(read(**{"kafka.isolation.level": "read_committed", "kafka.fetch.min.bytes": "7"}).configs)
    assert configs["isolation_level"] == "read_committed"
    assert configs["fetch_min_bytes"] == 7
    assert configs["bootstrap_servers"] == "localhost:9092"
    assert dict(parse_write({**SINK, "kafka.linger.ms": "3"}).configs)["linger_ms"] == 3


def test_no_group_is_joined():
    options = read(**{"kafka.group.id": "g", "groupIdPrefix": "p"})
    assert "group_id" not in dict(options.configs)


def test_a_wrong_client_option_is_rejected_before_the_query_starts():
    message = refusal(**{"kafka.fetch.min.byte": "7"})
    assert "fetch.min.byte" in message
    assert "did you mean 'kafka.fetch.min.bytes'" in message
    assert "isolation.level" in refusal(**{"kafka.isolation.level": "serializable"}).replace("_", ".")


def test_bounds_may_be_equal():
    read(streaming=False, startingOffsets='{"t":{"0":5}}', endingOffsets='{"t":{"0":5}}')
    read(minOffsetsPerTrigger="5", maxOffsetsPerTrigger="5")
    message = refusal(streaming=False, startingOffsets='{"t":{"0":5}}', endingOffsets='{"t":{"0":0}}')
    assert "ends t-0 at 0, before 'startingOffsets' starts it at 5" in message


@pytest.mark.parametrize("offset", ["9223372036854775807", "0"])
def test_offsets_have_64_bits(offset):
    start = read(startingOffsets=f'{{"t":{{"0":{offset}}}}}').start
    assert isinstance(start, AtOffsets)
    assert list(start.offsets.values()) == [int(offset)]
    assert "'startingOffsets'" in refusal(startingOffsets='{"t":{"0":9223372036854775808}}')


def test_a_task_fetches_large_responses_without_waiting():
    fetch = ("fetch_max_wait_ms", "max_partition_fetch_bytes", "receive_message_max_bytes")
    assert [dict(read().configs)[name] for name in fetch] == [5, 8 << 20, 256 << 20]
    given = dict(read(**{"kafka.fetch.max.wait.ms": "100", "kafka.max.partition.fetch.bytes": "1000"}).configs)
    assert [given[name] for name in fetch] == [100, 1000, 256 << 20]


@pytest.mark.parametrize(
    "value",
    [
        Everywhere("startingOffsets", EARLIEST),
        AtOffsets("startingOffsets", {TopicPartition("t", 0): 1}),
        read().start,
        read(startingTimestamp="5").start,
        read(startingOffsetsByTimestamp='{"t":{"0":5}}').start,
        read().selection,
        parse_read({"kafka.bootstrap.servers": "h:1", "assign": '{"t":[0]}'}, streaming=True).selection,
        parse_read({"kafka.bootstrap.servers": "h:1", "subscribepattern": "t"}, streaming=True).selection,
        read(),
        parse_write(SINK),
        OPTIONS[0],
    ],
    ids=lambda value: type(value).__name__,
)
def test_parsed_options_are_immutable(value):
    first = dataclasses.fields(value)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(value, first, None)
    assert not hasattr(value, "__dict__")


def test_secrets_are_not_shown():
    options = {"kafka.sasl.password": "hush", "kafka.sasl.mechanism": "PLAIN", "kafka.sasl.username": "u"}
    assert "hush" not in repr(read(**options))
    written = parse_write({"kafka.bootstrap.servers": "localhost:9092", **options})
    assert "hush" not in repr(written)
    assert ("sasl_plain_password", "hush") in written.configs


def test_javas_login_options_reach_the_clients_in_tasks():
    options = {
        "kafka.security.protocol": "SASL_SSL",
        "kafka.sasl.mechanism": "SCRAM-SHA-512",
        "kafka.sasl.jaas.config": 'a.b.ScramLoginModule required username="u" password="hush" tokenauth="true";',
        "kafka.ssl.truststore.location": __file__,
        "kafka.ssl.truststore.type": "JKS",
        "kafka.ssl.truststore.password": "hush",
        "kafka.ssl.endpoint.identification.algorithm": "",
    }
    for parsed in (read(**options), parse_write({"kafka.bootstrap.servers": "localhost:9092", **options})):
        hash(parsed.configs)
        found = dict(pickle.loads(pickle.dumps(parsed)).configs)
        assert found["sasl_scram_tokenauth"] is True
        assert found["ssl_truststore_location"] == __file__
        assert found["ssl_check_hostname"] is False
        assert "hush" not in repr(parsed)
    with pytest.raises(KafkaConfigurationError, match="more than one entry") as caught:
        read(**{**options, "kafka.sasl.jaas.config": 'M required a="hush"; M required;'})
    assert "hush" not in str(caught.value)


def test_columns_are_pruned_by_option_or_schema():
    assert read_columns({"columns": "value, offset"}) == ("value", "offset")
    assert read_columns({"includeheaders": "TRUE"})[-1] == "headers"
    assert requested_columns({}, [("offset", "bigint", True), ("value", "binary", True)]) == ("offset", "value")
    headers = [("headers", "array<struct<key:string,value:binary>>", True)]
    assert requested_columns({}, headers) == ("headers",)


def test_a_schema_may_declare_columns_that_every_record_has_as_not_null():
    always = [name for name in COLUMNS if name not in ("key", "value", "headers")]
    fields = [("value", "binary", True), *((name, COLUMNS[name], False) for name in always)]
    assert requested_columns({}, fields) == ("value", *always)
    assert not_null(fields) == {"topic", "partition", "offset", "timestamp", "timestampType"}


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ([("valeu", "binary", True)], "'valeu', which is not a column of a read from Kafka; did you mean 'value'"),
        ([("value", "string", True)], "column 'value' the type string, but it is binary"),
        ([("value", "binary", False)], "column 'value' as not null, but it can be null"),
        ([("headers", COLUMNS["headers"], False)], "column 'headers' as not null"),
        ([], "at least one column"),
    ],
)
def test_a_wrong_schema_is_rejected(fields, said):
    with pytest.raises(KafkaConfigurationError, match=said):
        requested_columns({}, fields)


def test_columns_and_schema_must_agree():
    with pytest.raises(KafkaConfigurationError, match="'columns' requests key, but the schema value"):
        requested_columns({"columns": "key"}, [("value", "binary", True)])


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("15m", 900_000),
        ("500", 500),
        ("7ms", 7),
        ("2 h", 7_200_000),
        ("30S", 30_000),
        ("4min", 240_000),
        ("1d", 86_400_000),
    ],
)
def test_time_spans(text, ms):
    assert delay_ms("maxTriggerDelay", text) == ms


def test_each_field_is_set_by_rows_of_the_table_or_by_several_options():
    by_rows = {row.field for row in OPTIONS if row.field}
    together = {
        ReadOptions: {"streaming", "columns", "configs", "warnings", "typed"},
        WriteOptions: {"configs", "warnings", "exactly_once", "typed"},
        ExactlyOnceOptions: {"timeout_ms"},
        TypedOptions: {"fields", "registry"},
        FieldOptions: {"field"},
    }
    for kind, others in together.items():
        names = {each.name for each in dataclasses.fields(kind)}
        assert names - by_rows == others
        by_rows -= names - {"topic"}
    assert by_rows == {"topic"}


def test_rows_without_a_field_depend_on_other_options():
    assert [row.name for row in OPTIONS if not row.field] == [
        "kafka.bootstrap.servers",
        "kafka.bootstrap.timeout.ms",
        "kafka.sasl.oauth.token.provider",
        "includeHeaders",
        "columns",
        "groupIdPrefix",
        "schemaRegistryUrl",
        "schemaRegistryUser",
        "schemaRegistryPassword",
        "schemaRegistryToken",
        "exactlyOnce",
    ]
