"""The context of TLS: what the options do to it, and how long it is kept."""

import os
import ssl

import pytest

from kafka.config import parse_admin
from kafka.errors import KafkaConfigurationError
from kafka.net import tls
from kafka.net.tls import tls_context


class Context:
    """Notes what is done to it."""

    verify_flags = ssl.VerifyFlags.VERIFY_DEFAULT

    def __init__(self, cafile):
        self.calls = [("cafile", cafile)]

    def __getattr__(self, name):
        return lambda *args: self.calls.append((name, *args))


@pytest.fixture(autouse=True)
def _contexts(monkeypatch):
    monkeypatch.setattr(ssl, "create_default_context", lambda cafile: Context(cafile))
    tls._contexts.clear()
    yield
    tls._contexts.clear()


def security(**options):
    return parse_admin({"security_protocol": "SSL", **options}).security


@pytest.mark.parametrize("protocol", ["PLAINTEXT", "SASL_PLAINTEXT"])
def test_without_tls_there_is_none(protocol):
    options = {"sasl_mechanism": "PLAIN", "sasl_plain_username": "u", "sasl_plain_password": "p"}
    assert tls_context(security(security_protocol=protocol, **options)) is None


def test_the_users_own_context_is_taken_as_it_is():
    own = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    assert tls_context(security(ssl_context=own)) is own


@pytest.fixture
def files(tmp_path):
    """A file each, by the option that names it."""
    named = {name: tmp_path / name for name in ("ssl_cafile", "ssl_certfile", "ssl_keyfile", "ssl_crlfile")}
    for path in named.values():
        path.write_text("")
    return {name: str(path) for name, path in named.items()}


def test_each_option_has_its_effect(files):
    made = tls_context(security(**files, ssl_password="p", ssl_ciphers="c"))
    assert made.calls == [
        ("cafile", files["ssl_cafile"]),
        ("load_verify_locations", files["ssl_crlfile"]),
        ("load_cert_chain", files["ssl_certfile"], files["ssl_keyfile"], "p"),
        ("set_ciphers", "c"),
    ]
    assert made.verify_flags & ssl.VerifyFlags.VERIFY_CRL_CHECK_LEAF
    assert made.check_hostname is True
    assert tls_context(security(ssl_check_hostname=False)).check_hostname is False


def test_what_is_not_given_is_not_touched():
    made = tls_context(security())
    assert made.calls == [("cafile", None)]
    assert made.verify_flags == ssl.VerifyFlags.VERIFY_DEFAULT


def test_a_context_is_kept_until_one_of_its_files_changes(tmp_path):
    path = tmp_path / "cert"
    path.write_text("first")
    options = security(ssl_certfile=str(path))
    first = tls_context(options)
    assert tls_context(options) is first
    os.utime(path, ns=(1, 1))
    assert tls_context(options) is not first


def test_no_more_than_eight_are_kept_and_the_oldest_goes():
    every = [security() for _ in range(9)]
    made = [tls_context(each) for each in every[:8]]
    assert tls_context(every[0]) is made[0]
    tls_context(every[8])
    assert [tls_context(each) for each in every[1:8]] == made[1:]
    assert tls_context(every[0]) is not made[0]


@pytest.mark.parametrize("error", [OSError("no such file"), ValueError("wrong")])
def test_files_that_cannot_be_used_are_named(monkeypatch, files, error):
    def refuse(cafile):
        raise error

    monkeypatch.setattr(ssl, "create_default_context", refuse)
    with pytest.raises(KafkaConfigurationError, match=r"ssl_cafile='.*(no such file|wrong)"):
        tls_context(security(ssl_cafile=files["ssl_cafile"]))
