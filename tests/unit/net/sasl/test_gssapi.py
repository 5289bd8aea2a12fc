"""GSSAPI with a fake Kerberos: the order of the exchange, names, credentials, failures."""

import sys
import types

import pytest

from kafka.config import parse_admin
from kafka.errors import KafkaConfigurationError, KafkaConnectionError, SaslAuthenticationFailedError
from kafka.net.sasl.gssapi import Gssapi

pytestmark = pytest.mark.once


class GSSError(Exception):
    def __init__(self, text, min_code=0):
        super().__init__(text)
        self.min_code = min_code


class Name:
    def __init__(self, text, kind=None):
        self.text, self.kind = text, kind

    def __str__(self):
        return self.text


class Context:
    """A context that is complete after one answer, and wraps messages with a prefix."""

    initiator_name = Name("ann@LAB.TEST")

    def __init__(self, **arguments):
        self.arguments, self.complete = arguments, False

    def step(self, token=None):
        if token == b"away":
            raise GSSError("cannot contact any KDC", -1765328228)
        if token == b"refused":
            raise GSSError("Server not found\n in Kerberos database")
        self.complete = token is not None
        return b"ticket" if token is None else None

    def unwrap(self, data):
        return types.SimpleNamespace(message=data.removeprefix(b"wrapped "))

    def wrap(self, data, encrypt):
        assert not encrypt
        return types.SimpleNamespace(message=b"wrapped " + data)


@pytest.fixture(autouse=True)
def library(monkeypatch):
    library = types.SimpleNamespace(
        SecurityContext=Context,
        Credentials=lambda **given: given,
        Name=Name,
        NameType=types.SimpleNamespace(kerberos_principal="principal", hostbased_service="service"),
        MechType=types.SimpleNamespace(kerberos="krb5"),
        RequirementFlag=types.SimpleNamespace(mutual_authentication=2, integrity=32),
        exceptions=types.SimpleNamespace(GSSError=GSSError),
    )
    monkeypatch.setitem(sys.modules, "gssapi", library)
    return library


def exchange(**options):
    parsed = parse_admin({"security_protocol": "SASL_SSL", "sasl_mechanism": "GSSAPI", **options})
    return Gssapi(parsed.security, "broker.test")


def test_the_exchange_ends_without_a_security_layer():
    one = exchange()
    assert one.first() == b"ticket"
    assert one.answer(b"of the broker") == b""
    assert one.answer(b"wrapped \x07\x00\x10\x00") == b"wrapped \x01\x00\x00\x00ann@LAB.TEST"
    assert one.answer(b"") is None


@pytest.mark.parametrize(
    ("options", "text", "kind"),
    [
        ({}, "kafka@broker.test", "service"),
        ({"sasl_kerberos_service_name": "k", "sasl_kerberos_domain_name": "h"}, "k@h", "service"),
        ({"sasl_kerberos_name": "k@h"}, "k@h", "service"),
        ({"sasl_kerberos_name": "k/h@REALM"}, "k/h@REALM", "principal"),
        ({"sasl_kerberos_name": Name("ready", "own")}, "ready", "own"),
    ],
)
def test_the_brokers_name_is_built_from_the_options(options, text, kind):
    one = exchange(**options)
    one.first()
    name = one._context.arguments["name"]
    assert (name.text, name.kind) == (text, kind)
    assert one._context.arguments["usage"] == "initiate"


def test_the_configured_credentials_are_used():
    def credentials(**options):
        one = exchange(**options)
        one.first()
        return one._context.arguments["creds"]

    assert credentials() is None
    assert credentials(sasl_kerberos_ccache="FILE:/cc")["store"] == {"ccache": "FILE:/cc"}
    keytab = credentials(sasl_kerberos_keytab=__file__, sasl_kerberos_principal="ann")
    assert keytab["store"]["client_keytab"] == __file__
    assert keytab["store"]["ccache"].startswith("MEMORY:kafka-")
    assert (str(keytab["name"]), keytab["name"].kind) == ("ann", "principal")
    other = credentials(sasl_kerberos_keytab=__file__, sasl_kerberos_principal="bob")
    assert other["store"]["ccache"] != keytab["store"]["ccache"]
    assert credentials(sasl_kerberos_principal="ann")["store"] is None


def test_an_unreachable_kdc_is_retriable_but_a_refusal_is_not():
    one = exchange()
    one.first()
    with pytest.raises(KafkaConnectionError, match="cannot contact any KDC"):
        one.answer(b"away")
    with pytest.raises(SaslAuthenticationFailedError, match=r"'kafka@broker\.test': Server not found in Kerberos"):
        one.answer(b"refused")


@pytest.mark.parametrize("offer", [b"", b"\x06\x00\x00\x00", b"\x01", b"\x01\x00\x00\x00\x00"])
def test_a_broker_that_requires_a_security_layer_is_rejected(offer):
    one = exchange()
    one.first()
    one.answer(b"of the broker")
    with pytest.raises(SaslAuthenticationFailedError, match="without a security layer"):
        one.answer(b"wrapped " + offer)


def test_no_message_may_follow_the_end():
    one = exchange()
    one.first()
    one.answer(b"of the broker")
    one.answer(b"wrapped \x01\x00\x00\x00")
    with pytest.raises(SaslAuthenticationFailedError, match="expected the end"):
        one.answer(b"more")


def test_the_missing_requirement_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "gssapi", None)
    with pytest.raises(KafkaConfigurationError, match=r"kafka-columnar\[kerberos\]"):
        exchange().first()
