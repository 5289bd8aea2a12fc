import pytest

from kafka.config import parse_admin
from kafka.errors import KafkaConfigurationError, SaslAuthenticationFailedError
from kafka.net.sasl.mechanism import check_mechanism, make_mechanism
from kafka.net.sasl.oauth import OAuthBearer
from kafka.net.sasl.plain import Plain
from kafka.net.sasl.scram import Scram


def security(**options):
    return parse_admin({"security_protocol": "SASL_PLAINTEXT", **options}).security


def rfc_7677_exchange():
    scram = Scram("SCRAM-SHA-256", "user", "pencil", nonce="rOprNGfwEbeRWgbNEkqO")
    scram.first()
    final = scram.answer(b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096")
    return scram, final


def test_plain_sends_user_and_password():
    assert Plain("ann", "sécret").first() == "\0ann\0sécret".encode()
    assert Plain("ann", "secret").answer(b"") is None


def test_plain_rejects_a_challenge():
    with pytest.raises(SaslAuthenticationFailedError):
        Plain("ann", "secret").answer(b"more?")


def test_scram_computes_the_proof_of_the_rfcs_example():
    _, final = rfc_7677_exchange()
    assert final == (
        b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
    )


def test_scram_marks_a_delegation_token():
    options = {"sasl_plain_username": "id", "sasl_plain_password": "hmac", "sasl_scram_tokenauth": True}
    first = make_mechanism(security(sasl_mechanism="SCRAM-SHA-256", **options), "h").first()
    assert first.startswith(b"n,,n=id,r=")
    assert first.endswith(b",tokenauth=true")


def test_scram_accepts_the_servers_signature_of_the_rfcs_example():
    scram, _ = rfc_7677_exchange()
    assert scram.answer(b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=") is None


def test_scram_rejects_a_server_that_does_not_know_the_password():
    scram, _ = rfc_7677_exchange()
    with pytest.raises(SaslAuthenticationFailedError, match="did not prove"):
        scram.answer(b"v=AAAATRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")


def test_scram_escapes_the_user_name():
    assert Scram("SCRAM-SHA-512", "a=b,c", "x", nonce="N").first() == b"n,,n=a=3Db=2Cc,r=N"


@pytest.mark.parametrize(
    "challenge",
    [
        b"r=other,s=QUFB,i=4096",
        b"r=N,s=QUFB,i=4096",
        b"r=Nx,s=QUFB,i=100",
        b"r=Nx,s=QUFB,i=99999999",
        b"r=Nx,s=QUFB,i=1000000000000",
        b"r=Nx,s=QUFB,i=-4096",
        b"r=Nx,s=,i=4096",
        b"r=Nx,s=%%%,i=4096",
        b"nonsense",
        b"\xff\xfe",
        b"",
        b"e=unknown-user",
    ],
)
def test_scram_rejects_a_weak_hostile_or_garbled_challenge(challenge):
    scram = Scram("SCRAM-SHA-256", "user", "x", nonce="N")
    scram.first()
    with pytest.raises(SaslAuthenticationFailedError):
        scram.answer(challenge)


class Provider:
    def __init__(self, token="abc.def", extensions=None):
        self._token, self._extensions = token, extensions or {}

    def token(self):
        return self._token

    def extensions(self):
        return self._extensions


def test_oauth_sends_the_token_and_the_extensions():
    message = OAuthBearer(Provider(extensions={"traceId": "123"})).first()
    assert message == b"n,,\x01auth=Bearer abc.def\x01traceId=123\x01\x01"
    assert OAuthBearer(Provider()).first() == b"n,,\x01auth=Bearer abc.def\x01\x01"


def test_oauth_lets_the_broker_report_its_reason():
    mechanism = OAuthBearer(Provider())
    mechanism.first()
    assert mechanism.answer(b'{"status":"invalid_token"}') == b"\x01"
    with pytest.raises(SaslAuthenticationFailedError, match="invalid_token"):
        mechanism.answer(b"")


@pytest.mark.parametrize("token", [None, b"bytes", "with space", "line\n", ""])
def test_oauth_rejects_an_invalid_token(token):
    with pytest.raises(KafkaConfigurationError):
        OAuthBearer(Provider(token)).first()


@pytest.mark.parametrize("extensions", [{"auth": "x"}, {"a-b": "x"}, {"a": "x\x01"}])
def test_oauth_rejects_extensions_that_would_break_the_message(extensions):
    with pytest.raises(KafkaConfigurationError):
        OAuthBearer(Provider(extensions=extensions)).first()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"sasl_mechanism": "CRAM-MD5"}, "unknown"),
        ({"sasl_mechanism": "PLAIN"}, "needs 'sasl_plain_username' and 'sasl_plain_password'"),
        ({"sasl_mechanism": "SCRAM-SHA-256", "sasl_plain_username": "a"}, "needs 'sasl_plain_password'"),
        ({"sasl_mechanism": "PLAIN", "sasl_plain_password": "b"}, "needs 'sasl_plain_username'"),
        ({"sasl_mechanism": "OAUTHBEARER"}, "sasl_oauth_token_provider"),
    ],
)
def test_invalid_options_are_rejected_before_connecting(options, said):
    with pytest.raises(KafkaConfigurationError, match=said):
        check_mechanism(security(**options))


def test_each_supported_mechanism_can_be_created():
    for name in ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"):
        assert make_mechanism(
            security(sasl_mechanism=name, sasl_plain_username="a", sasl_plain_password="b"), "h"
        ).first()
    assert make_mechanism(security(sasl_mechanism="OAUTHBEARER", sasl_oauth_token_provider=Provider()), "h").first()
