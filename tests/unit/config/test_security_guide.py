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
