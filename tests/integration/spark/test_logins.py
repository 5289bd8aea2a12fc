"""Every way to log in, from Spark: the processes that plan and those that read and write log in by Java's options."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.apache import ApacheKafka
from harness.kerberos import Kdc, KerberosMissing, require_kerberos
from harness.oidc import CLIENTS, OidcServer
from harness.tls import STORE_PASSWORD

from .spark_support import FORMAT, importable, spark

__all__ = ["spark"]

pytestmark = [pytest.mark.apache, pytest.mark.timeout(600)]
_LOGIN = "org.apache.kafka.common.security"
SCRAM = f"{_LOGIN}.scram.ScramLoginModule required"
OAUTH = f"{_LOGIN}.oauthbearer.OAuthBearerLoginModule required"
KRB5 = "com.sun.security.auth.module.Krb5LoginModule required"
LISTENER = "listener.name.sasl_ssl."
PROVIDER = '''
import json, os, sys

FOLDER = os.path.dirname(__file__)


class Alice:
    def token(self):
        """A token that the test has signed; what kind of process asks for it is written down."""
        with open(os.path.join(FOLDER, "asked.jsonl"), "a") as asked:
            asked.write(json.dumps(sys.argv[1:]) + "\\n")
        with open(os.path.join(FOLDER, type(self).__name__)) as token:
            return token.read()


class Nobody(Alice):
    pass
'''


@pytest.fixture(scope="module")
def oidc() -> Iterator[OidcServer]:
    with OidcServer() as server:
        yield server


@pytest.fixture(scope="module")
def kdc(tmp_path_factory) -> Iterator[Kdc | str]:
    """A KDC with the broker and alice, known to Spark's processes; a text says why there is none."""
    try:
        package = require_kerberos()
    except KerberosMissing as error:
        yield str(error)
        return
    with Kdc(tmp_path_factory.mktemp("spark-kdc")) as running:
        for each in package.iterdir():
            if each.name != "bin":
                (importable() / each.name).symlink_to(each)
        shutil.copy(running.folder / "krb5.conf", importable())
        yield running


@pytest.fixture(scope="module")
def secured(java_tools, tmp_path_factory, oidc, kdc) -> Iterator[ApacheKafka]:
    """A broker with one encrypted listener where all mechanisms are known."""
    mechanisms = ["PLAIN", "SCRAM-SHA-512", "OAUTHBEARER"]
    handler = f"{_LOGIN}.oauthbearer.OAuthBearerValidatorCallbackHandler"
    properties = {
        f"{LISTENER}oauthbearer.sasl.server.callback.handler.class": handler,
        f"{LISTENER}oauthbearer.sasl.jaas.config": f"{OAUTH};",
        "sasl.oauthbearer.jwks.endpoint.url": f"{oidc.url}/jwks",
        "sasl.oauthbearer.expected.audience": oidc.audience,
        "sasl.oauthbearer.expected.issuer": oidc.issuer,
    }
    jvm = [f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={oidc.url}/jwks"]
    if not isinstance(kdc, str):
        mechanisms.append("GSSAPI")
        who = "kafka/127.0.0.1"  # as clients call the broker by the host they connect to
        login = f'{KRB5} useKeyTab=true storeKey=true keyTab="{kdc.keytab(who)}" principal="{who}@LAB.TEST";'
        properties |= {f"{LISTENER}gssapi.sasl.jaas.config": login, "sasl.kerberos.service.name": "kafka"}
        jvm.append(f"-Djava.security.krb5.conf={kdc.folder}/krb5.conf")
    properties["sasl.enabled.mechanisms"] = ",".join(mechanisms)
    folder = tmp_path_factory.mktemp("spark-logins")
    listeners = ("plaintext", "sasl_ssl")
    with ApacheKafka(
        folder, version=java_tools.version, listeners=listeners, properties=properties, jvm=jvm
    ) as running:
        yield running


@pytest.fixture
def options(secured):
    """Gives the options of who logs in by a mechanism."""

    def given(mechanism: str, **more: str) -> dict[str, str]:
        return {
            "kafka.bootstrap.servers": secured.bootstrap("sasl_ssl"),
            "kafka.security.protocol": "SASL_SSL",
            "kafka.sasl.mechanism": mechanism,
            "kafka.ssl.truststore.type": "PKCS12",
            "kafka.ssl.truststore.location": str(secured.tls_folder / "trust.p12"),
            "kafka.ssl.truststore.password": STORE_PASSWORD,
            **{f"kafka.{name.replace('_', '.')}": value for name, value in more.items()},
        }

    return given


def copies(spark: Any, options: dict[str, str], topic: str) -> str:
    """Write rows from two tasks and read them in two others; gives how Spark shows a plan that has the options."""
    frame = spark.range(40).selectExpr("cast(id as string) as value").repartition(2)
    frame.write.format(FORMAT).options(**options, topic=topic).mode("append").save()
    read = spark.read.format(FORMAT).options(**options, subscribe=topic, minPartitions="2").load()
    assert read.rdd.getNumPartitions() == 2
    assert sorted(int(row.value) for row in read.collect()) == list(range(40))
    given = ", ".join(f"'{name}' '{value}'" for name, value in {**options, "subscribe": topic}.items())
    view = f"explain extended create temporary view who_logs_in using {FORMAT} options ({given})"
    plan: str = spark.sql(view).collect()[0][0]
    assert topic in plan
    return plan


def is_refused(spark: Any, options: dict[str, str], match: str) -> str:
    """Nobody can read; gives what is said then."""
    with pytest.raises(Exception, match=match) as caught:
        spark.read.format(FORMAT).options(**options, subscribe="of-nobody").load().collect()
    return str(caught.value)


def is_nowhere(secret: str, capfd: pytest.CaptureFixture[str], *texts: str) -> None:
    """The secret is neither in the texts nor in what Spark's processes have logged."""
    logged = capfd.readouterr()
    assert not [text for text in (*texts, logged.out, logged.err) if secret in text]


def test_scram_with_a_store_of_javas(spark, options, capfd):
    def login(password: str) -> dict[str, str]:
        jaas = f'{SCRAM} username="alice" password="{password}";'
        return options("SCRAM-SHA-512", sasl_jaas_config=jaas)

    plan = copies(spark, login("alice-secret"), "of-scram")
    is_nowhere("alice-secret", capfd, plan)
    is_nowhere("not-hers", capfd, is_refused(spark, login("not-hers"), "refused the .* credentials|password"))


def test_client_credentials_of_an_oauth_server(spark, options, oidc, capfd):
    def login(secret: str) -> dict[str, str]:
        jaas = f'{OAUTH} clientId="alice" clientSecret="{secret}";'
        url = f"{oidc.url}/token"
        return options("OAUTHBEARER", sasl_jaas_config=jaas, sasl_oauthbearer_token_endpoint_url=url)

    plan = copies(spark, login(CLIENTS["alice"]), "of-oauth")
    assert len(oidc.asked) >= 2  # by the process that plans, and by one with a task
    is_nowhere(CLIENTS["alice"], capfd, plan)
    is_nowhere("not-hers", capfd, is_refused(spark, login("not-hers"), "rejected the request: invalid_client"))


def test_a_token_provider_of_ones_own(spark, options, oidc, capfd):
    (importable() / "login_of_the_test.py").write_text(PROVIDER)
    tokens = {"Alice": oidc.token("alice"), "Nobody": OidcServer().token("alice")}  # the latter of an unknown server
    for name, token in tokens.items():
        (importable() / name).write_text(token)

    def login(name: str) -> dict[str, str]:
        return options("OAUTHBEARER", sasl_oauth_token_provider=f"login_of_the_test:{name}")

    plan = copies(spark, login("Alice"), "of-a-provider")
    asked = [json.loads(line) for line in (importable() / "asked.jsonl").read_text().splitlines()]
    kinds = {arguments[0] for arguments in asked}
    assert kinds > {"pyspark.worker"}, kinds  # processes with tasks, and some that plan
    is_nowhere(tokens["Alice"], capfd, plan)
    is_nowhere(tokens["Nobody"], capfd, is_refused(spark, login("Nobody"), "invalid_token"))


def test_kerberos_by_keytab(spark, options, kdc):
    from conftest import missing

    if isinstance(kdc, str):
        missing(f"Kerberos is not to be had: {kdc}")

    def login(keytab: Path) -> dict[str, str]:
        jaas = f'{KRB5} useKeyTab=true storeKey=true keyTab="{keytab}" principal="alice@LAB.TEST";'
        return options("GSSAPI", sasl_jaas_config=jaas, sasl_kerberos_service_name="kafka")

    keytab = kdc.keytab("alice")
    copies(spark, login(keytab), "of-kerberos")
    is_refused(spark, login(keytab.with_name("of-nobody.keytab")), "Kerberos|keytab")
