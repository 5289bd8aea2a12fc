"""The options with the prefix ``kafka.``: each works, has no effect with a warning, or is rejected with the reason."""

import pickle

import pytest

from kafka.config import parse_consumer
from kafka.errors import KafkaConfigurationError
from kafka.net.sasl.token_providers import check_tokens
from kafka.spark.options.client_options import Effect, client_configs, client_option_handling, handling_of
from kafka.spark.options.option_table import OPTIONS
from kafka.spark.options.parsing import parse_read, parse_write

pytestmark = pytest.mark.once

BROKERS = {"kafka.bootstrap.servers": "localhost:9092"}
VALUES = {
    "kafka.acks": "all",
    "kafka.allow.auto.create.topics": "true",
    "kafka.isolation.level": "read_committed",
    "kafka.compression.type": "gzip",
    "kafka.ssl.keystore.type": "PEM",
    "kafka.ssl.truststore.type": "PEM",
    "kafka.ssl.enabled.protocols": "TLSv1.3",
    "kafka.ssl.endpoint.identification.algorithm": "https",
    "kafka.ssl.cipher.suites": "TLS_AES_128_GCM_SHA256",
    "kafka.sasl.mechanism": "PLAIN",
    "kafka.sasl.mechanisms": "PLAIN",
    "kafka.sasl.jaas.config": 'a.PlainLoginModule required username="u" password="p";',
    "kafka.sasl.oauthbearer.assertion.algorithm": "RS256",
    "kafka.sasl.oauthbearer.extensions": "a=b",
    "kafka.sasl.oauth.token.provider": "a.b:C",
    "kafka.security.protocol": "PLAINTEXT",
    "kafka.sasl.login.refresh.window.factor": "0.8",
    "kafka.delivery.timeout.ms": "120000",
    "kafka.metrics.recording.level": "INFO",
    "kafka.max.in.flight.requests.per.connection": "1",
    "kafka.transaction.two.phase.commit.enable": "true",
}
TRUTHS = dict.fromkeys(
    (
        "kafka.check.crcs",
        "kafka.enable.idempotence",
        "kafka.partitioner.adaptive.partitioning.enable",
        "kafka.partitioner.ignore.keys",
        "kafka.sasl.oauthbearer.header.urlencode",
        "kafka.sasl.oauthbearer.assertion.claim.jti.include",
    ),
    "true",
)


def value_of(option: str) -> str:
    if option.endswith((".location", ".file", ".keytab")) and "truststore" not in option and "keystore" not in option:
        return __file__
    return {**VALUES, **TRUTHS}.get(option, "30000")


def refusal(given: dict[str, str], client: str) -> str:
    try:
        client_configs(given, client)
    except KafkaConfigurationError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("client", ["consumer", "producer"])
def test_every_option_does_what_the_table_says(client):
    for option, fates in client_option_handling().items():
        fate = fates[client == "producer"]
        given = {**BROKERS, option: value_of(option)}
        if fate.effect is Effect.REFUSED or fate.why.startswith("only "):
            assert option.removeprefix("kafka.") in refusal(given, client)
        elif fate.effect is Effect.IDLE:
            assert client_configs(given, client)[1] == [f"{option} ({fate.why})"]
        else:  # some require another option, and say so
            said = refusal(given, client)
            assert "unknown" not in said, said
            assert said or client_configs(given, client)[1] == []


def test_a_class_with_the_default_behavior_is_accepted():
    for option, (reading, writing) in client_option_handling().items():
        for client, fate in (("consumer", reading), ("producer", writing)):
            if fate.why.startswith("only "):
                name = fate.why.removeprefix("only ").partition(",")[0]
                assert client_configs({**BROKERS, option: f"org.apache.kafka.{name}"}, client)[1] == []


def test_options_without_effect_cause_one_warning():
    given = {"kafka.group.id": "g", "kafka.acks": "all", "kafka.client.dns.lookup": "use_all_dns_ips"}
    (said,) = parse_read({**BROKERS, **given, "subscribe": "t"}, streaming=True).warnings
    assert said == (
        "these options have no effect on a read: kafka.acks (it does not apply to reads), kafka.client.dns.lookup (it "
        "applies to Java clients or to brokers), kafka.group.id (reading does not use a consumer group)"
    )


def test_a_write_warns_about_options_without_effect():
    assert parse_write({**BROKERS, "kafka.max.poll.records": "7"}).warnings == (
        "these options have no effect on a write: kafka.max.poll.records (it does not apply to writes)",
    )


def test_an_unknown_option_is_not_handled():
    assert handling_of("kafka.max.pol.records", "consumer") is None


def test_all_options_of_this_package_with_the_prefix_are_known():
    ours = {row.name for row in OPTIONS if row.name.startswith("kafka.")}
    assert ours <= client_option_handling().keys()


class Tokens:
    """A token provider, created by its name."""

    made = 0

    def __init__(self) -> None:
        Tokens.made += 1

    def token(self) -> str:
        return "abc"

    def extensions(self) -> dict[str, str]:
        return {"logicalCluster": "lkc"}


class Bare:
    def token(self) -> str:
        return "bare"


BARE = Bare()


def provider(reference: str):
    given = {"kafka.sasl.oauth.token.provider": reference, "kafka.sasl.mechanism": "OAUTHBEARER"}
    given["kafka.security.protocol"] = "SASL_SSL"
    read = parse_read({**BROKERS, **given, "subscribe": "t"}, streaming=True)
    hash(read.configs)
    configs = dict(pickle.loads(pickle.dumps(read)).configs)
    check_tokens(parse_consumer(configs).security)
    return configs["sasl_oauth_token_provider"]


def test_a_token_provider_is_created_where_it_is_used():
    found = provider(f"{__name__}:Tokens")
    assert Tokens.made == 0
    assert (found.token(), found.token(), found.extensions()) == ("abc", "abc", {"logicalCluster": "lkc"})
    assert Tokens.made == 1


def test_a_token_provider_may_be_an_object():
    found = provider(f"{__name__}:BARE")
    assert (found.token(), found.extensions()) == ("bare", {})


class Silent:
    """A class without token()."""


@pytest.mark.parametrize("attribute", ["Nobody", "Silent", "VALUES"])
def test_an_invalid_token_provider_is_rejected_by_name(attribute):
    with pytest.raises(KafkaConfigurationError, match=f"token.provider' names '{__name__}:{attribute}', which"):
        provider(f"{__name__}:{attribute}").token()
    with pytest.raises(KafkaConfigurationError, match="'not_there:X', which cannot be imported"):
        provider("not_there:X").token()


def test_an_invalid_reference_to_a_token_provider_is_not_shown():
    with pytest.raises(KafkaConfigurationError, match=r"'kafka.sasl.oauth.token.provider' expects") as caught:
        provider("eyJhbGciOi.very-secret")
    assert "secret" not in str(caught.value)


def test_values_are_stripped_as_in_java() -> None:
    configs, _ = client_configs(
        {**BROKERS, "kafka.isolation.level": "read_committed ", "kafka.client.id": " a"}, "consumer"
    )
    assert (configs["isolation_level"], configs["client_id"]) == ("read_committed", "a")


@pytest.mark.parametrize(
    ("client", "given", "message"),
    [
        ("consumer", {"request.timeout.ms": "-5"}, "option 'kafka.request.timeout.ms' expects a whole number"),
        ("consumer", {"fetch.min.bytes": "x"}, "option 'kafka.fetch.min.bytes' expects a whole number"),
        (
            "consumer",
            {"ssl.truststore.location": "/nowhere"},
            "option 'kafka.ssl.truststore.location' names a file that does not exist: /nowhere",
        ),
        ("consumer", {"isolation.level": "x"}, "option 'kafka.isolation.level' expects one of"),
        (
            "producer",
            {"enable.idempotence": "true", "acks": "1"},
            "kafka.enable.idempotence=True requires kafka.acks='all'",
        ),
        (
            "producer",
            {"enable.idempotence": "true", "max.in.flight.requests.per.connection": "9"},
            "at most 5 for 'kafka.max.in.flight.requests.per.connection', not 9",
        ),
        (
            "consumer",
            {"sasl.login.callback.handler.class": "com.google.cloud.hosted.kafka.auth.GcpLoginCallbackHandler"},
            "as 'kafka.sasl.username' and its base64-encoded key as 'kafka.sasl.password'",
        ),
    ],
)
def test_errors_name_options_as_they_were_given(client: str, given: dict[str, str], message: str) -> None:
    with pytest.raises(KafkaConfigurationError) as caught:
        client_configs({f"kafka.{name}": value for name, value in given.items()}, client)
    assert message in str(caught.value)
