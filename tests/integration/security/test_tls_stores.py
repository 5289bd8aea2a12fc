"""TLS with the stores that Java users have, made by keytool, on a listener that demands the client's certificate."""

import subprocess

import pytest

from harness.proxy import Socks5Proxy
from kafka import AsyncKafkaProducer, KafkaAdminClient
from kafka.errors import KafkaConfigurationError, NoBrokersAvailable

pytestmark = pytest.mark.apache
PASSWORD = "changeit"
AT_ONCE = r"could be used: .*"
"""An error that comes when the time is up says after how long."""


@pytest.fixture(scope="module")
def secured(java_tools, tmp_path_factory):
    """A real broker; beside its certificates are `client.jks`, `trust.jks` and a certificate that has expired."""
    from harness.apache import ApacheKafka

    folder = tmp_path_factory.mktemp("tls-kafka")
    with ApacheKafka(folder, version=java_tools.version, listeners=("ssl", "mtls")) as kafka:
        yield kafka


@pytest.fixture(scope="module")
def stores(secured):
    folder = secured.tls_folder

    def keytool(*arguments):
        subprocess.run(["keytool", *arguments], cwd=folder, check=True, capture_output=True)

    source = ("-srckeystore", "client.p12", "-srcstorepass", PASSWORD)
    keytool(
        "-importkeystore", *source, "-destkeystore", "client.jks", "-deststoretype", "JKS", "-deststorepass", PASSWORD
    )
    store = ("-keystore", "trust.jks", "-storetype", "JKS", "-storepass", PASSWORD)
    keytool("-importcert", "-noprompt", "-alias", "ca", "-file", "ca.pem", *store)
    return folder


def ways(folder):
    text = {name: (folder / name).read_text() for name in ("ca.pem", "client.pem", "client.key")}
    (folder / "both.pem").write_text(text["client.key"] + text["client.pem"])
    return {
        "jks": {
            "ssl_truststore_location": folder / "trust.jks",
            "ssl_truststore_password": PASSWORD,
            "ssl_keystore_location": folder / "client.jks",
            "ssl_keystore_password": PASSWORD,
        },
        "pkcs12": {
            "ssl_truststore_location": folder / "trust.p12",
            "ssl_truststore_password": PASSWORD,
            "ssl_truststore_type": "PKCS12",
            "ssl_keystore_location": folder / "client.p12",
            "ssl_keystore_password": PASSWORD,
            "ssl_keystore_type": "PKCS12",
            "ssl_password": PASSWORD,
        },
        "pem": {
            "ssl_truststore_location": folder / "ca.pem",
            "ssl_truststore_type": "PEM",
            "ssl_keystore_location": folder / "both.pem",
            "ssl_keystore_type": "PEM",
        },
        "pem in memory": {
            "ssl_truststore_certificates": text["ca.pem"],
            "ssl_keystore_certificate_chain": text["client.pem"],
            "ssl_keystore_key": text["client.key"],
        },
    }


def connect(secured, listener="mtls", **options):
    servers = secured.bootstrap(listener)
    with KafkaAdminClient(bootstrap_servers=servers, security_protocol="SSL", **options) as admin:
        return admin.describe_cluster()


@pytest.mark.parametrize("way", ["jks", "pkcs12", "pem", "pem in memory"])
def test_stores_of_java_let_a_client_in(secured, stores, way):
    connect(secured, **ways(stores)[way])


async def test_the_asyncio_clients_take_the_same_options(secured, stores):
    options = {"bootstrap_servers": secured.bootstrap("mtls"), "security_protocol": "SSL", **ways(stores)["jks"]}
    async with AsyncKafkaProducer(**options) as producer:
        assert (await producer.send_and_wait("stores", b"v")).topic == "stores"


def test_what_is_wrong_is_told(secured, stores):
    jks = ways(stores)["jks"]
    trust = {name: value for name, value in jks.items() if "truststore" in name}
    with pytest.raises(NoBrokersAvailable, match=f"{AT_ONCE}'ssl_keystore_location'"):
        connect(secured, **trust)
    with pytest.raises(NoBrokersAvailable, match=f"{AT_ONCE}set the trusted authorities"):
        connect(secured, "ssl", ssl_cafile=stores / "client.pem")
    with pytest.raises(KafkaConfigurationError, match="is its password") as caught:
        connect(secured, **{**jks, "ssl_keystore_password": "not-this-secret"})
    assert "not-this-secret" not in str(caught.value)


def test_a_broker_by_a_name_that_is_not_in_its_certificate_is_refused(secured, stores):
    with Socks5Proxy(names={"kafka.hidden.test": "127.0.0.1"}) as proxy:
        servers = secured.bootstrap("ssl").replace("127.0.0.1", "kafka.hidden.test")
        options = {
            "bootstrap_servers": servers,
            "proxy_url": f"socks5h://127.0.0.1:{proxy.port}",
            "security_protocol": "SSL",
        }
        trust = {"ssl_cafile": stores / "ca.pem"}
        with pytest.raises(NoBrokersAvailable, match=f"{AT_ONCE}connect with a name in the certificate"):
            KafkaAdminClient(**options, **trust)
        with KafkaAdminClient(**options, **trust, ssl_check_hostname=False) as admin:
            admin.list_topics()
        assert {host for host, _ in proxy.asked} == {"kafka.hidden.test", "127.0.0.1"}


def test_a_client_whose_certificate_has_expired_is_told(secured, stores):
    folder = stores
    sign = ("openssl", "x509", "-req", "-in", "client.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-days", "-1")
    subprocess.run([*sign, "-out", "expired.pem"], cwd=folder, check=True, capture_output=True)
    expired = {"ssl_cafile": folder / "ca.pem", "ssl_certfile": folder / "expired.pem"}
    with pytest.raises(NoBrokersAvailable, match=f"{AT_ONCE}does not accept this client's certificate"):
        connect(secured, **expired, ssl_keyfile=folder / "client.key")
