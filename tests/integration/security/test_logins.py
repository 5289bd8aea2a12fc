"""Every way to log in to Apache Kafka, by properties as Java users have them: right, wrong, expired, and again."""

import asyncio
import contextlib
import time

import pytest

import kafka
from kafka import AsyncKafkaProducer, KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.errors import KafkaConfigurationError, NoBrokersAvailable, SaslAuthenticationFailedError
from kafka.net.connection import Connection
from kafka.net.sasl.sasl_session import SaslSession

pytestmark = pytest.mark.apache
REAUTHENTICATE_MS = 1_500
_LOGIN = "org.apache.kafka.common.security"
_HANDLER = f"{_LOGIN}.oauthbearer.OAuthBearerValidatorCallbackHandler"


@pytest.fixture(scope="module")
def oidc():
    from harness.oidc import OidcServer

    with OidcServer() as server:
        yield server


@pytest.fixture(scope="module")
def kdc(tmp_path_factory):
    """A KDC with brokers and alice; None where there can be none."""
    from harness.kerberos import Kdc, KerberosMissing, require_kerberos

    try:
        package = require_kerberos()
    except KerberosMissing as error:
        yield str(error)
        return
    with Kdc(tmp_path_factory.mktemp("kdc")) as running:
        running.package = package
        running.broker_keytab = running.keytab("kafka/localhost")
        running.alice_keytab = running.keytab("alice")
        yield running


@pytest.fixture(scope="module")
def secured(java_tools, tmp_path_factory, oidc, kdc):
    """A real broker that knows all mechanisms, checks signatures of tokens, and ends SASL sessions soon."""
    from harness.apache import ApacheKafka

    listener = "listener.name.sasl_plaintext."
    mechanisms = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"]
    properties = {
        f"{listener}oauthbearer.sasl.server.callback.handler.class": _HANDLER,
        f"{listener}oauthbearer.sasl.jaas.config": f"{_LOGIN}.oauthbearer.OAuthBearerLoginModule required;",
        "sasl.oauthbearer.jwks.endpoint.url": f"{oidc.url}/jwks",
        "sasl.oauthbearer.expected.audience": oidc.audience,
        "sasl.oauthbearer.expected.issuer": oidc.issuer,
        f"{listener}connections.max.reauth.ms": str(REAUTHENTICATE_MS),
        "connections.max.reauth.ms": str(REAUTHENTICATE_MS),
        "delegation.token.secret.key": "of-the-cluster",
    }
    jvm = [f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={oidc.url}/jwks"]
    if not isinstance(kdc, str):
        mechanisms.append("GSSAPI")
        login = f'useKeyTab=true storeKey=true keyTab="{kdc.broker_keytab}" principal="kafka/localhost@LAB.TEST"'
        properties[f"{listener}gssapi.sasl.jaas.config"] = (
            f"com.sun.security.auth.module.Krb5LoginModule required {login};"
        )
        properties["sasl.kerberos.service.name"] = "kafka"
        jvm.append(f"-Djava.security.krb5.conf={kdc.folder}/krb5.conf")
    properties["sasl.enabled.mechanisms"] = ",".join(mechanisms)
    folder = tmp_path_factory.mktemp("login-kafka")
    with ApacheKafka(
        folder, version=java_tools.version, listeners=("plaintext", "sasl"), properties=properties, jvm=jvm
    ) as broker:
        yield broker


@pytest.fixture
def configured(secured, tmp_path):
    """Gives the keyword arguments of a properties file with this mechanism and JAAS configuration."""

    def options(mechanism, jaas, **more):
        path = tmp_path / "client.properties"
        lines = {
            "bootstrap.servers": secured.bootstrap("sasl"),
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": mechanism,
            "sasl.jaas.config": f"{jaas};",
            **{name.replace("_", "."): value for name, value in more.items()},
        }
        path.write_text("".join(f"{name}={value}\n" for name, value in lines.items()))
        return kafka.load_properties(path)

    return options


def user(module, name="alice", password="alice-secret", more=""):
    return f'{_LOGIN}.{module} required username="{name}" password="{password}"{more}'


PLAIN, SCRAM = "plain.PlainLoginModule", "scram.ScramLoginModule"
OAUTH = f"{_LOGIN}.oauthbearer.OAuthBearerLoginModule required"


@pytest.fixture
def through_all_clients(monkeypatch, caplog):
    """Gives what writes, reads and administrates, until the connections have logged in again."""
    counts = {"logins": 0, "connections": 0}

    def counted(name, method):
        def count(*arguments):
            counts[name] += 1
            return method(*arguments)

        return count

    monkeypatch.setattr(SaslSession, "_authenticate", counted("logins", SaslSession._authenticate))
    monkeypatch.setattr(Connection, "connect", counted("connections", Connection.connect))

    async def asynchronously(options, topic):
        async with AsyncKafkaProducer(**options) as producer:
            await producer.send_and_wait(topic, b"w")

    def run(options, topic):
        with KafkaAdminClient(**options) as admin, contextlib.closing(KafkaProducer(**options)) as producer:
            deadline = time.monotonic() + 60
            sent = 0
            while counts["logins"] < counts["connections"] + 2 and time.monotonic() < deadline:
                producer.send(topic, b"v").get(60)
                admin.list_topics()
                sent += 1
        assert counts["logins"] >= counts["connections"] + 2
        assert "reauthentication failed" not in caplog.text
        reading = {"auto_offset_reset": "earliest", "consumer_timeout_ms": 20_000, **options}
        with contextlib.closing(KafkaConsumer(topic, **reading)) as consumer:
            assert [next(consumer).value for _ in range(sent)] == [b"v"] * sent
        asyncio.run(asynchronously(options, topic))

    return run


def is_refused(options, match):
    with pytest.raises(SaslAuthenticationFailedError, match=match) as caught:
        KafkaAdminClient(**options, bootstrap_timeout_ms=10_000)
    return str(caught.value)


@pytest.mark.parametrize(
    ("mechanism", "module"), [("PLAIN", PLAIN), ("SCRAM-SHA-256", SCRAM), ("SCRAM-SHA-512", SCRAM)]
)
def test_user_and_password(through_all_clients, configured, mechanism, module):
    through_all_clients(configured(mechanism, user(module)), f"of-{mechanism}")
    told = is_refused(configured(mechanism, user(module, password="not-hers")), "refused the .* credentials|password")
    assert "not-hers" not in told


def until_known(options):
    """The controller has made the token, and tells the broker of it; a broker takes its time over each refusal."""
    end = time.monotonic() + 60
    while True:
        try:
            KafkaAdminClient(**options).close()
            return
        except SaslAuthenticationFailedError:
            if time.monotonic() > end:
                raise


def test_a_delegation_token(through_all_clients, secured, configured, tmp_path):
    owner = tmp_path / "owner.properties"
    owner.write_text(
        f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-256\nsasl.jaas.config={user(SCRAM)};\n"
    )
    tool = ("org.apache.kafka.tools.DelegationTokenCommand", "--bootstrap-server", secured.bootstrap("sasl"))
    made = secured.tool(*tool, "--command-config", str(owner), "--create", "--max-life-time-period", "-1")
    row = next(line.split() for line in made.stdout.splitlines() if "User:alice" in line)
    identity, hmac = row[0], row[1]
    token = user(SCRAM, identity, hmac, ' tokenauth="true"')
    options = configured("SCRAM-SHA-256", token)
    until_known(options)
    through_all_clients(options, "of-a-token")
    is_refused(configured("SCRAM-SHA-256", user(SCRAM, identity, hmac)), "refused|password")
    is_refused(configured("SCRAM-SHA-256", user(SCRAM, identity, "d3Jvbmc=", ' tokenauth="true"')), "refused|password")


def client(secret):
    return f'{OAUTH} clientId="alice" clientSecret="{secret}"'


def test_client_credentials_of_an_oauth_server(through_all_clients, oidc, configured):
    from harness.oidc import CLIENTS

    url = {"sasl_oauthbearer_token_endpoint_url": f"{oidc.url}/token"}
    right = client(CLIENTS["alice"])
    through_all_clients(configured("OAUTHBEARER", right, **url), "of-oauth")
    told = is_refused(
        configured("OAUTHBEARER", client("not-hers"), **url),
        "the token endpoint .* rejected the request: invalid_client",
    )
    assert "not-hers" not in told
    with pytest.raises(KafkaConfigurationError, match="client_secret"):
        KafkaAdminClient(**configured("OAUTHBEARER", OAUTH, **url))
    oidc.replies += [(503, b"")] * 100
    with pytest.raises(NoBrokersAvailable, match="fails with HTTP status 503"):
        KafkaAdminClient(**configured("OAUTHBEARER", f'{right} scope="another"', **url), bootstrap_timeout_ms=1_000)
    oidc.replies.clear()


def test_a_signed_assertion_for_an_oauth_server(through_all_clients, oidc, configured, tmp_path):
    key = tmp_path / "key.pem"
    key.write_text(oidc.assertion_pem())
    options = configured(
        "OAUTHBEARER",
        OAUTH,
        sasl_oauthbearer_token_endpoint_url=f"{oidc.url}/token",
        sasl_oauthbearer_jwt_retriever_class=f"{_LOGIN}.oauthbearer.JwtBearerJwtRetriever",
        sasl_oauthbearer_assertion_private_key_file=str(key),
        sasl_oauthbearer_assertion_claim_sub="alice",
    )
    through_all_clients(options, "of-assertions")


@pytest.mark.parametrize(
    "claims", [{"exp": 1_000_000}, {"aud": "another"}, {"iss": "https://another.test"}], ids=["old", "aud", "iss"]
)
def test_a_token_that_does_not_hold_is_refused(oidc, configured, tmp_path, claims):
    path = tmp_path / "token"
    path.write_text(oidc.token("alice", **claims))
    options = configured("OAUTHBEARER", OAUTH, sasl_oauthbearer_token_endpoint_url=path.as_uri())
    is_refused(options, "invalid_token")
    path.write_text(oidc.token("alice"))
    with KafkaAdminClient(**options) as admin:
        admin.list_topics()


@pytest.fixture
def kerberos(kdc, monkeypatch):
    """Clients of the KDC, without a ticket."""
    from conftest import missing

    if isinstance(kdc, str):
        missing(f"Kerberos is not to be had: {kdc}")
    monkeypatch.syspath_prepend(kdc.package)
    for name, value in kdc.environment.items():
        monkeypatch.setenv(name, value)
    return kdc


KRB5 = "com.sun.security.auth.module.Krb5LoginModule required"


def test_kerberos_by_keytab(through_all_clients, kerberos, configured):
    login = f'{KRB5} useKeyTab=true storeKey=true keyTab="{kerberos.alice_keytab}" principal="alice@LAB.TEST"'
    options = configured("GSSAPI", login, sasl_kerberos_service_name="kafka")
    through_all_clients({**options, "sasl_kerberos_domain_name": "localhost"}, "of-kerberos")
    told = is_refused(options, "cannot get a Kerberos ticket for the broker as 'kafka@127.0.0.1'")
    assert "sasl_kerberos_domain_name" in told


def test_a_kerberos_ticket_that_has_expired_is_refused(kerberos, configured):
    cache = kerberos.ticket_cache("alice", kerberos.alice_keytab, life="1s")
    while kerberos.holds(cache):
        pass
    options = configured("GSSAPI", f'{KRB5} useTicketCache=true ticketCache="{cache}"')
    is_refused({**options, "sasl_kerberos_domain_name": "localhost"}, "[Ee]xpired")


def test_kerberos_by_ticket_cache_and_by_environment(kerberos, configured, monkeypatch):
    cache = kerberos.ticket_cache("alice", kerberos.alice_keytab)
    name = {"sasl_kerberos_name": "kafka/localhost@LAB.TEST"}
    with KafkaAdminClient(**configured("GSSAPI", f'{KRB5} useTicketCache=true ticketCache="{cache}"'), **name) as admin:
        admin.list_topics()
    environment = configured("GSSAPI", f"{KRB5} useTicketCache=true")
    is_refused({**environment, **name}, "'sasl_kerberos_keytab', 'sasl_kerberos_ccache' or kinit")
    monkeypatch.setenv("KRB5CCNAME", cache)
    with KafkaAdminClient(**environment, **name) as admin:
        admin.list_topics()
    monkeypatch.setenv("KRB5_CLIENT_KTNAME", f"FILE:{kerberos.alice_keytab}")
    monkeypatch.setenv("KRB5CCNAME", "MEMORY:of-the-test")
    with KafkaAdminClient(**environment, **name) as admin:
        admin.list_topics()
