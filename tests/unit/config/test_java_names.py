"""Properties of Java's clients: each name, sasl.jaas.config, and properties files."""

import contextlib
import logging
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kafka
from kafka.config import from_java_names, parse_admin, parse_consumer, parse_producer
from kafka.config.jaas import parse_jaas
from kafka.config.java_names import _REFUSED, _WITHOUT_MEANING, java_names
from kafka.config.properties import parse_properties
from kafka.errors import KafkaConfigurationError

pytestmark = pytest.mark.once
_LOGIN = "org.apache.kafka.common.security"
PLAIN = f'{_LOGIN}.plain.PlainLoginModule required username="ann" password="hunter2";'


def sasl(mechanism, jaas):
    return from_java_names(
        {"security.protocol": "SASL_SSL", "sasl.mechanism": mechanism, "sasl.jaas.config": jaas}, "consumer"
    )


# sasl.jaas.config


@pytest.mark.parametrize(
    ("mechanism", "jaas", "wanted"),
    [
        ("PLAIN", PLAIN, {"sasl_plain_username": "ann", "sasl_plain_password": "hunter2"}),
        (
            "SCRAM-SHA-512",
            f'shaded.{_LOGIN}.scram.ScramLoginModule required username="id" password="aG1hYw==" tokenauth="true";',
            {"sasl_plain_username": "id", "sasl_plain_password": "aG1hYw==", "sasl_scram_tokenauth": True},
        ),
        (
            "OAUTHBEARER",
            (
                f'{_LOGIN}.oauthbearer.OAuthBearerLoginModule required clientId="c" clientSecret="s" scope="a b" '
                'extension_logicalCluster="lkc-1" extension_identityPoolId="p";'
            ),
            {
                "sasl_oauthbearer_client_credentials_client_id": "c",
                "sasl_oauthbearer_client_credentials_client_secret": "s",
                "sasl_oauthbearer_scope": "a b",
                "sasl_oauthbearer_extensions": (("logicalCluster", "lkc-1"), ("identityPoolId", "p")),
            },
        ),
        (
            "OAUTHBEARER",
            (
                f'{_LOGIN}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="ann" '
                'unsecuredLoginNumberClaim_exp="17" unsecuredLoginListClaim_scope="|a|b";'
            ),
            {"sasl_oauthbearer_unsecured_claims": (("sub", "ann"), ("exp", 17), ("scope", ("a", "b")))},
        ),
        (
            "GSSAPI",
            (
                "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true "
                f"keyTab='{__file__}' principal='ann@LAB.TEST' serviceName=kafka2;"
            ),
            {
                "sasl_kerberos_keytab": __file__,
                "sasl_kerberos_principal": "ann@LAB.TEST",
                "sasl_kerberos_service_name": "kafka2",
            },
        ),
        (
            "GSSAPI",
            'com.sun.security.auth.module.Krb5LoginModule required useTicketCache=true ticketCache="/tmp/cc";',
            {"sasl_kerberos_ccache": "/tmp/cc"},
        ),
        (
            "AWS_MSK_IAM",
            (
                'software.amazon.msk.auth.iam.IAMLoginModule required awsProfileName="dev" awsRoleArn="arn:x" '
                'awsRoleSessionName="s" awsRoleExternalId="e" awsStsRegion="eu-west-1";'
            ),
            {
                "sasl_msk_iam_profile": "dev",
                "sasl_msk_iam_role_arn": "arn:x",
                "sasl_msk_iam_role_session_name": "s",
                "sasl_msk_iam_role_external_id": "e",
                "sasl_msk_iam_sts_region": "eu-west-1",
            },
        ),
    ],
)
def test_each_login_module_provides_credentials(mechanism, jaas, wanted):
    found = sasl(mechanism, jaas)
    assert found == {"security_protocol": "SASL_SSL", "sasl_mechanism": mechanism, **wanted}
    parse_consumer(found)
    hash(tuple(sorted(found.items())))  # Spark caches clients by their options, and sends options to its workers
    pickle.dumps(found)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("M required;", {}),
        ("a.b.M\n  required\n  a=1\n  b = 'two words' ;  ", {"a": "1", "b": "two words"}),
        (r'M required a="say \"hi\" \\ \n \101";', {"a": 'say "hi" \\ \n A'}),
        ("/* before */ M required // until the end of the line ; \n a=x;", {"a": "x"}),
        ('M required a="// no comment; = \'";', {"a": "// no comment; = '"}),
        ('M REQUIRED a="";', {"a": ""}),
        ("M required url=http://host:1/path;", {"url": "http://host:1/path"}),
    ],
)
def test_the_grammar_matches_java(text, options):
    entry = parse_jaas(text)
    assert (entry.module, entry.options) == ("M", options)


@pytest.mark.parametrize(
    ("jaas", "message"),
    [
        ("", "it is empty"),
        ("hunter2", "login module"),
        ('M required password="hunter2"', "does not end with a semicolon"),
        ('M required password="hunter2', "quotation mark at character 21"),
        ("M required password=;", "option 'password' has no value"),
        ('M required "hunter2";', r"option \(not shown\) has no value"),
        ("M required = hunter2;", "expected the name of an option"),
        (f"{PLAIN} {PLAIN}", "more than one entry"),
        ('M required password="hunter2";', "names the login module 'M'"),
        ('x.PlainLoginModule required username="hunter2";', "must contain 'username' and 'password'"),
        ("x.OAuthBearerLoginModule required;", "which is for OAUTHBEARER, but 'sasl.mechanism' is 'PLAIN'"),
    ],
)
def test_syntax_errors_show_no_secret(jaas, message):
    with pytest.raises(KafkaConfigurationError, match=message) as caught:
        sasl("PLAIN", jaas)
    assert "hunter2" not in str(caught.value)


@pytest.mark.slow
@given(st.text(max_size=60))
def test_any_jaas_text_is_parsed_or_rejected(text):
    with contextlib.suppress(KafkaConfigurationError):
        assert "options" not in repr(parse_jaas(text))


def test_the_default_mechanism_is_kerberos_and_options_override_jaas():
    assert from_java_names({"security.protocol": "SASL_SSL"})["sasl_mechanism"] == "GSSAPI"
    found = from_java_names(
        {
            "sasl.mechanism": "OAUTHBEARER",
            "sasl.oauthbearer.scope": "mine",
            "sasl.jaas.config": 'a.OAuthBearerLoginModule required scope="other";',
        }
    )
    assert found["sasl_oauthbearer_scope"] == "mine"


# Names


def test_text_is_converted_to_python_values():
    found = from_java_names(
        {
            "ssl.endpoint.identification.algorithm": "",
            "ssl.cipher.suites": "TLS_AES_128_GCM_SHA256, TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,"
            "TLS_RSA_WITH_AES_128_CBC_SHA,TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
            "compression.type": "zstd",
            "compression.zstd.level": "7",
            "compression.gzip.level": "1",
            "key.serializer": "org.apache.kafka.common.serialization.ByteArraySerializer",
            "retries": "2147483647",
            "sasl.login.refresh.window.factor": "0.5",
            "metric.reporters": "org.apache.kafka.common.metrics.JmxReporter",
        },
        "producer",
    )
    assert found == {
        "ssl_check_hostname": False,
        "ssl_ciphers": "ECDHE-RSA-AES128-GCM-SHA256:AES128-SHA:ECDHE-ECDSA-CHACHA20-POLY1305",
        "compression_type": "zstd",
        "compression_level": 7,
        "key_serializer": None,
        "retries": 2147483647,
        "sasl_login_refresh_window_factor": 0.5,
    }
    parse_producer(found)


@pytest.mark.parametrize(
    ("properties", "wanted"),
    [
        ({"group.id": "orders ", "client.id": "\t a b"}, {"group_id": "orders", "client_id": "a b"}),
        ({"security.protocol": "SASL_SSL ", "sasl.mechanism": "PLAIN\t"}, {"sasl_mechanism": "PLAIN"}),
        ({"isolation.level": "read_committed "}, {"isolation_level": "read_committed"}),
        ({"ssl.key.password": " secret ", "group.id": "a\xa0"}, {"ssl_password": "secret", "group_id": "a\xa0"}),
        (
            {"receive.buffer.bytes": "-1", "send.buffer.bytes": -1},
            {"receive_buffer_bytes": -1, "send_buffer_bytes": -1},
        ),
        ({"bootstrap.servers": "a:1, b:2,"}, {"bootstrap_servers": "a:1, b:2,"}),
    ],
    ids=str,
)
def test_values_are_stripped_as_in_java(properties, wanted):
    found = from_java_names(properties, "consumer")
    assert wanted.items() <= found.items()
    parse_consumer(found)


def test_a_compression_level_applies_if_its_codec_has_trailing_blanks():
    found = from_java_names({"compression.type": "gzip ", "compression.gzip.level": " 3 "}, "producer")
    assert found == {"compression_type": "gzip", "compression_level": 3}


def test_java_classes_have_equivalents():
    found = from_java_names(
        {
            "value.deserializer": "org.apache.kafka.common.serialization.StringDeserializer",
            "partition.assignment.strategy": "org.apache.kafka.clients.consumer.CooperativeStickyAssignor,"
            "org.apache.kafka.clients.consumer.RangeAssignor",
        },
        "consumer",
    )
    assert found["value_deserializer"]("é".encode()) == "é"
    assert found["value_deserializer"](None) is None
    assert found["partition_assignment_strategy"] == ("cooperative-sticky", "range")


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({"value.deserializer": "com.acme.Avro"}, r"the Java class 'com\.acme\.Avro'.*use a Python function"),
        ({"interceptor.classes": "com.acme.Audit"}, "'interceptor_classes'"),
        ({"sasl.login.callback.handler.class": "com.acme.Vault"}, "'sasl_oauth_token_provider'"),
        ({"ssl.engine.factory.class": "com.acme.Engine"}, "'ssl_context'"),
        ({"config.providers": "vault"}, "is not expanded here"),
        ({"sasl.jaas.confg": "hunter2"}, r"unknown to the consumer; did you mean 'sasl\.jaas\.config'"),
        ({"ssl.truststore.locaton": "hunter2"}, r"'ssl\.truststore\.location'"),
        ({"bootstrap.controllers": "a:1"}, "not supported"),
        ({"ssl.endpoint.identification.algorithm": "ldaps"}, "expects 'https'"),
        ({"ssl.cipher.suites": "AES"}, "expects names such as"),
        ({"sasl.jaas.config": 7}, "which is not shown"),
    ],
)
def test_unsupported_properties_are_rejected_with_advice(properties, message):
    with pytest.raises(KafkaConfigurationError, match=message) as caught:
        from_java_names(properties, "consumer")
    assert "hunter2" not in str(caught.value)


def test_no_name_is_both_supported_and_ignored():
    assert not (_WITHOUT_MEANING | set(_REFUSED)) & set(java_names())


def test_names_without_meaning_are_logged_together_once(caplog):
    with caplog.at_level(logging.WARNING, "kafka"):
        found = from_java_names(
            {
                "ssl.provider": "SunJSSE",
                "client.dns.lookup": "use_all_dns_ips",
                "sasl.mechanism": "PLAIN",
                "sasl.jaas.config": PLAIN.replace(";", ' serviceName="kafka";'),
                "transaction.two.phase.commit.enable": "false",
                "group.id": "of a consumer",
            },
            "producer",
        )
    assert "ssl_provider" not in found
    (told,) = caplog.messages
    assert told.endswith("here: client.dns.lookup, group.id, serviceName of sasl.jaas.config, ssl.provider")


# Files


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a=1\nb = 2\r\nc:3\rd 4", {"a": "1", "b": "2", "c": "3", "d": "4"}),
        ("# comment\n  ! comment \\\na=1", {"a": "1"}),
        ("fruits = apple, \\\n         pear, \\\n   \t #fig", {"fruits": "apple, pear, #fig"}),
        ("a=1\\\\\nb=2", {"a": "1\\", "b": "2"}),
        (r"a\=b\:c\ d=e=f:g", {"a=b:c d": "e=f:g"}),
        (r"a=\t\n\u00e9\u20AC\ud83d\ude00\q\"", {"a": '\t\n\u00e9\u20ac\U0001f600q"'}),
        ("empty\nalso=\n =nameless", {"empty": "", "also": "", "": "nameless"}),
        ("a=kept at the end  \na2=\\", {"a": "kept at the end  ", "a2": ""}),
        ("a=1\na=2", {"a": "2"}),
        ("a=1\n\\\n# comment\n \\\n\nb=2\n\\\n", {"a": "1", "b": "2"}),
        ("a=\u2028b\x85c", {"a": "\u2028b\x85c"}),
        ("", {}),
    ],
)
def test_properties_files_are_parsed_as_in_java(text, wanted):
    assert parse_properties(text) == wanted


def test_an_invalid_escape_is_reported_with_its_line_but_no_value():
    with pytest.raises(KafkaConfigurationError, match="line 3 contains") as caught:
        parse_properties("\n# x\nsasl.jaas.config=hunter2\\u12")
    assert "hunter2" not in str(caught.value)


@given(st.dictionaries(st.text(min_size=1, max_size=8), st.text(max_size=12), max_size=4))
def test_text_escaped_as_in_java_round_trips(pairs):
    def escaped(text):
        units = text.encode("utf-16-be", "surrogatepass")
        return "".join(f"\\u{units[at]:02x}{units[at + 1]:02X}" for at in range(0, len(units), 2))

    text = "\n".join(f"{escaped(name)} = {escaped(value)}" for name, value in pairs.items())
    assert parse_properties(text) == pairs


@given(st.text(max_size=80))
def test_any_properties_text_is_parsed_or_rejected(text):
    with contextlib.suppress(KafkaConfigurationError):
        assert all(isinstance(each, str) for pair in parse_properties(text).items() for each in pair)


def test_a_properties_file_configures_a_client(tmp_path):
    path = tmp_path / "client.properties"
    path.write_bytes(
        b"# of another program\nbootstrap.servers = a:1,\\\n    b:2\nsecurity.protocol=SASL_SSL\nsasl.mechanism=PLAIN\n"
        b"client.id=caf\xe9\nsasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\\n"
        b'  username="ann" \\\n  password="pa\\u0073s";\n'
    )
    options = kafka.load_properties(path)
    config = parse_admin(options)
    assert config.connection.bootstrap_servers == (("a", 1), ("b", 2))
    assert config.connection.client_id == "café"
    assert config.security.sasl_plain_password == "pass"
    path.write_text("acks=all", encoding="utf-16")
    with pytest.raises(KafkaConfigurationError, match=r"expected text in UTF-8 in .*client\.properties, found UTF-16"):
        kafka.load_properties(path)
    path.write_text("ack=all")
    with pytest.raises(KafkaConfigurationError, match=r"client\.properties: option 'ack' is unknown .*'acks'"):
        kafka.load_properties(path, "producer")
    path.write_text("acks=all\ngroup.id=g")
    assert kafka.load_properties(path, "consumer") == {"group_id": "g"}
    with pytest.raises(KafkaConfigurationError, match="'acks' is an option of the producer"):
        parse_consumer(kafka.load_properties(path))
