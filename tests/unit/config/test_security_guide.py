"""docs/SECURITY_GUIDE.md: clients accept its programs and properties unchanged."""

import pathlib
import re

import pytest

import kafka
from kafka.config import parse_consumer, parse_producer
from kafka.net.sasl.mechanism import check_mechanism

pytestmark = pytest.mark.once
GUIDE = (pathlib.Path(__file__).resolve().parents[3] / "docs" / "SECURITY_GUIDE.md").read_text()
BLOCKS = [
    (kind, text)
    for kind, text in re.findall(r"```(python|properties)\n(.*?)```", GUIDE, re.DOTALL)
    if "EmbeddedBroker" not in text
]
"""Except for the program that `tests/integration/security/test_embedded_logins.py` runs."""
FILES = ("ca.pem", "client.pem", "client.key", "trust.jks", "client.p12", "assertion.pem", "alice.keytab")
FILES += ("service.cert", "service.key")
HOSTED = re.search(r"## Hosted services\n(.*)", GUIDE, re.DOTALL)


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in FILES:
        (tmp_path / name).touch()
    (tmp_path / "client.properties").write_text("bootstrap.servers=a:1\n")


@pytest.mark.parametrize(("kind", "text"), BLOCKS)
def test_examples_of_the_guide_are_accepted(monkeypatch, tmp_path, kind, text):
    made = []

    def client(parse):
        def make(*topics, **configs):
            made.append(parse(configs).security)

        return make

    monkeypatch.setattr(kafka, "KafkaConsumer", client(parse_consumer))
    monkeypatch.setattr(kafka, "KafkaProducer", client(parse_producer))
    if kind == "properties":
        (tmp_path / "client.properties").write_text(text)
        kafka.KafkaConsumer(**kafka.load_properties("client.properties", "consumer"))
    else:
        exec(compile(text, "SECURITY_GUIDE.md", "exec"), {})
    assert made
    for security in made:
        check_mechanism(security)


def test_every_security_option_in_the_guide_exists():
    named = set(re.findall(r"`((?:ssl|sasl|socks5|proxy)_\w+)(?:=\w+)?`", GUIDE))
    table = kafka.config.option_table()
    assert named - set(table) == set()


def _hosted(monkeypatch):
    """Return what the guide's programs for hosted services configure: servers and security by variable."""
    monkeypatch.setattr(kafka, "KafkaProducer", lambda **configs: parse_producer(configs))
    (program,) = re.findall(r"```python\n(.*?)```", HOSTED[1], re.DOTALL)
    made = {}
    exec(compile(program, "SECURITY_GUIDE.md", "exec"), made)
    return {name: each for name, each in made.items() if hasattr(each, "security")}


def test_programs_for_hosted_services_use_what_the_table_says(monkeypatch):
    made = _hosted(monkeypatch)
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in HOSTED[1].splitlines() if line[:2] == "| "
    ]
    table = {row[0].lower(): row for row in rows[1:]}
    services = {
        "confluent_cloud": "confluent cloud",
        "event_hubs": "azure event hubs",
        "msk_scram": "amazon msk",
        "redpanda_cloud": "redpanda cloud",
        "aiven": "aiven",
    }
    assert (set(made), set(table)) == (set(services), set(services.values()))
    for name, service in services.items():
        _, servers, protocols, authentication = table[service]
        security = made[name].security
        assert f"`{security.security_protocol}`" in protocols
        if security.sasl_mechanism is None:
            assert "client certificate" in authentication
        else:
            assert f"`{security.sasl_mechanism}`" in authentication
        ((host, port),) = made[name].connection.bootstrap_servers
        if fixed := re.findall(r":(\d+)`", servers):
            assert fixed == [str(port)]
        else:
            assert re.search(rf"\b{port}\b|HOST:PORT|those of the cluster$", servers)
        assert host.count(".") >= 2


def test_users_of_hosted_services_reach_the_login(monkeypatch):
    made = _hosted(monkeypatch)
    assert made["event_hubs"].security.sasl_plain_username == "$ConnectionString"
    assert made["event_hubs"].security.sasl_plain_password.startswith("Endpoint=sb://shop.servicebus.windows.net/;")
    assert made["aiven"].security.ssl_cafile == "ca.pem"
