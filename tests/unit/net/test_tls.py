"""TLS contexts: the effect of the options, trust, and caching."""

import asyncio
import os
import ssl
import subprocess
import tempfile
import threading

import pytest

from kafka.config import from_librdkafka_names, parse_admin
from kafka.errors import KafkaConfigurationError
from kafka.net.tls_context import _contexts, tls_context
from unit.net.certificates import (
    KEY_PASSWORD,
    STORE_PASSWORD,
    authority,
    issued,
    jks_key,
    jks_trust,
    p12_key,
    p12_trust,
    revocations,
)

pytestmark = pytest.mark.once


@pytest.fixture(autouse=True)
def _no_cached_contexts():
    _contexts.clear()
    yield
    _contexts.clear()


def security(**options):
    return parse_admin({"security_protocol": "SSL", **options}).security


def context_of(**options):
    return asyncio.run(tls_context(security(**options)))


def handshake(client, server, host="localhost"):
    """Perform a handshake of two contexts in memory; return the subject that the server has seen, or None."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ours = client.wrap_bio(to_client, to_server, server_hostname=host)
    theirs = server.wrap_bio(to_server, to_client, server_side=True)
    pending = [ours, theirs]
    for _ in range(10):
        for side in list(pending):
            try:
                side.do_handshake()
                pending.remove(side)
            except ssl.SSLWantReadError:
                continue
    assert not pending
    seen = theirs.getpeercert()
    return dict(pair for part in seen["subject"] for pair in part)["commonName"] if seen else None


def server_context(tmp_path, certificate=None, demand=False):
    certificate = certificate or issued("broker")
    path = tmp_path / "broker.pem"
    path.write_text(certificate.pem + certificate.key_pem())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    if demand:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(cadata=authority().pem)
    return context


def written(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


def trust_options(tmp_path, way):
    ca = authority()
    return {
        "cafile": lambda: {"ssl_cafile": written(tmp_path, "ca.pem", ca.pem)},
        "pem file": lambda: {"ssl_truststore_location": written(tmp_path, "trust.pem", ca.pem)},
        "pem text": lambda: {"ssl_truststore_certificates": ca.pem, "ssl_truststore_type": "PEM"},
        "jks": lambda: {
            "ssl_truststore_location": written(tmp_path, "trust.jks", jks_trust(ca)),
            "ssl_truststore_password": STORE_PASSWORD,
        },
        "jks without a password": lambda: {"ssl_truststore_location": written(tmp_path, "t.jks", jks_trust(ca))},
        "pkcs12 that is called jks": lambda: {
            "ssl_truststore_location": written(tmp_path, "trust.p12", p12_trust(ca)),
            "ssl_truststore_password": STORE_PASSWORD,
            "ssl_truststore_type": "JKS",
        },
    }[way]()


TRUST = ["cafile", "pem file", "pem text", "jks", "jks without a password", "pkcs12 that is called jks"]


@pytest.mark.parametrize("way", TRUST)
def test_only_brokers_of_the_authority_are_trusted(tmp_path, way):
    context = context_of(**trust_options(tmp_path, way))
    handshake(context, server_context(tmp_path))
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(context, server_context(tmp_path, issued("broker of another", by="another authority")))
    with pytest.raises(ssl.SSLCertVerificationError, match="expired"):
        handshake(context, server_context(tmp_path, issued("old broker", days=-2)))


def test_authorities_may_be_in_a_folder_as_with_librdkafka(tmp_path):
    folder = tmp_path / "certs"
    folder.mkdir()
    file = written(tmp_path, "ca.pem", authority().pem)
    named = subprocess.run(
        ["openssl", "x509", "-noout", "-hash", "-in", file], check=True, capture_output=True, text=True
    )
    written(folder, f"{named.stdout.strip()}.0", authority().pem)
    context = context_of(**from_librdkafka_names({"ssl.ca.location": str(folder)}))
    handshake(context, server_context(tmp_path))
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(context, server_context(tmp_path, issued("broker of another", by="another authority")))


def test_a_certificate_in_the_store_is_trusted_without_its_authority(tmp_path):
    handshake(context_of(ssl_truststore_certificates=issued("broker").pem), server_context(tmp_path))


def test_the_host_name_is_checked_unless_disabled(tmp_path):
    ca = {"ssl_truststore_certificates": authority().pem}
    with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        handshake(context_of(**ca), server_context(tmp_path), host="elsewhere.test")
    handshake(context_of(**ca, ssl_check_hostname=False), server_context(tmp_path), host="elsewhere.test")


def identity_options(tmp_path, way):
    own = issued("alice")
    chain = own.pem + authority().pem
    encrypted = own.key_pem(KEY_PASSWORD)
    return {
        "files": lambda: {
            "ssl_certfile": written(tmp_path, "c.pem", chain),
            "ssl_keyfile": written(tmp_path, "k.pem", own.key_pem()),
        },
        "files with a password": lambda: {
            "ssl_certfile": written(tmp_path, "c.pem", chain),
            "ssl_keyfile": written(tmp_path, "k.pem", encrypted),
            "ssl_password": lambda: KEY_PASSWORD,
        },
        "pem file": lambda: {
            "ssl_keystore_location": written(tmp_path, "k.pem", encrypted + chain),
            "ssl_keystore_type": "PEM",
            "ssl_password": KEY_PASSWORD,
        },
        "pem text": lambda: {
            "ssl_keystore_certificate_chain": chain,
            "ssl_keystore_key": encrypted,
            "ssl_password": KEY_PASSWORD,
        },
        "jks": lambda: {
            "ssl_keystore_location": written(tmp_path, "k.jks", jks_key(own)),
            "ssl_keystore_password": STORE_PASSWORD,
        },
        "jks with a password of the key": lambda: {
            "ssl_keystore_location": written(tmp_path, "k.jks", jks_key(own, key_password=KEY_PASSWORD)),
            "ssl_keystore_password": STORE_PASSWORD,
            "ssl_password": lambda: KEY_PASSWORD.encode(),
        },
        "pkcs12": lambda: {
            "ssl_keystore_location": written(tmp_path, "k.p12", p12_key(own)),
            "ssl_keystore_password": STORE_PASSWORD,
            "ssl_keystore_type": "PKCS12",
        },
    }[way]()


IDENTITY = ["files", "files with a password", "pem file", "pem text", "jks", "jks with a password of the key", "pkcs12"]


def _refused(name):
    raise OSError(38, "Function not implemented")


@pytest.mark.parametrize("in_memory", [True, False])
@pytest.mark.parametrize("way", IDENTITY)
def test_the_client_authenticates_and_leaves_no_key_file_behind(tmp_path, monkeypatch, way, in_memory):
    if not in_memory:
        monkeypatch.setattr(os, "memfd_create", _refused, raising=False)
    elif not hasattr(os, "memfd_create"):
        pytest.skip("this system has no files in memory")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    modes = []
    remove = os.unlink

    def watched(path):
        modes.append(os.stat(path).st_mode & 0o777)
        remove(path)

    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setattr(os, "unlink", watched)
    context = context_of(ssl_truststore_certificates=authority().pem, **identity_options(tmp_path, way))
    assert handshake(context, server_context(tmp_path, demand=True)) == "alice"
    assert modes == ([] if way.startswith("files") or in_memory else [0o600]), (
        "a key came to a disk, for others to read"
    )
    assert not list(temporary.iterdir())


def test_a_password_function_is_not_called_on_the_loop(tmp_path):
    threads = []

    def password():
        threads.append(threading.current_thread())
        return KEY_PASSWORD

    context_of(**{**identity_options(tmp_path, "files with a password"), "ssl_password": password})
    assert threads
    assert threading.current_thread() not in threads


def test_the_first_of_several_keys_is_used_and_named(tmp_path, caplog):
    store = written(tmp_path, "k.jks", jks_key(issued("alice"), issued("bob")))
    options = {"ssl_keystore_location": store, "ssl_keystore_password": STORE_PASSWORD}
    context = context_of(ssl_truststore_certificates=authority().pem, **options)
    assert handshake(context, server_context(tmp_path, demand=True)) == "alice"
    assert "has 2 keys; the first, 'key0', is used" in caplog.text


def test_versions_and_ciphers_are_set(tmp_path):
    context = context_of(ssl_enabled_protocols=["tlsv1.2"], ssl_ciphers="ECDHE-ECDSA-AES128-GCM-SHA256")
    assert (context.minimum_version, context.maximum_version) == (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_2)
    offered = {each["name"] for each in context.get_ciphers() if each["protocol"] == "TLSv1.2"}
    assert offered == {"ECDHE-ECDSA-AES128-GCM-SHA256"}
    context = context_of()
    assert (context.minimum_version, context.maximum_version) == (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3)
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert not context.verify_flags & ssl.VerifyFlags.VERIFY_X509_STRICT
    with pytest.raises(KafkaConfigurationError, match=r"ssl_enabled_protocols.*not 'SSLv3'"):
        security(ssl_enabled_protocols="SSLv3")


def test_no_certificate_is_trusted_without_a_revocation_list(tmp_path):
    crl = written(tmp_path, "crl.pem", authority().pem)  # without a revocation list, nothing can be checked
    context = context_of(ssl_truststore_certificates=authority().pem, ssl_crlfile=crl)
    assert context.verify_flags & ssl.VerifyFlags.VERIFY_CRL_CHECK_LEAF
    with pytest.raises(ssl.SSLCertVerificationError, match="CRL"):
        handshake(context, server_context(tmp_path))


def test_a_certificate_that_its_authority_has_revoked_is_not_trusted(tmp_path):
    gone, fine = issued("revoked broker"), issued("broker")
    options = {
        "ssl_truststore_certificates": authority().pem,
        "ssl_crlfile": written(tmp_path, "crl.pem", revocations(gone)),
    }
    handshake(context_of(**options), server_context(tmp_path, fine))
    with pytest.raises(ssl.SSLCertVerificationError, match="revoked"):
        handshake(context_of(**options), server_context(tmp_path, gone))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ssl_keystore_location": "jks", "ssl_keystore_password": "wrong"}, "is its password"),
        ({"ssl_keystore_location": "p12", "ssl_keystore_password": "wrong"}, "is its password"),
        ({"ssl_truststore_location": "jks", "ssl_truststore_password": "wrong"}, "is its password"),
        (
            {"ssl_keystore_location": "other key", "ssl_keystore_password": STORE_PASSWORD, "ssl_password": "wrong"},
            r"cannot decrypt the key 'key0' in",
        ),
        ({"ssl_keystore_location": "encrypted pem"}, "key is encrypted: set its password as 'ssl_password'"),
        ({"ssl_keystore_location": "encrypted pem", "ssl_password": "wrong"}, "is 'ssl_password' .* correct"),
        ({"ssl_keystore_location": "encrypted pem", "ssl_password": lambda: 7}, "text or bytes, not int"),
        ({"ssl_keystore_location": "mixed"}, "do they belong together"),
        ({"ssl_keystore_location": "certificate"}, "no private key"),
        ({"ssl_truststore_location": "key"}, "no certificate"),
        ({"ssl_truststore_location": "jks", "ssl_truststore_type": "PEM"}, "not PEM text, but its type is 'PEM'"),
        ({"ssl_truststore_location": "certificate", "ssl_truststore_type": "JKS"}, "PEM text, but its type is 'JKS'"),
        ({"ssl_truststore_location": "garbage"}, "cannot be read as a key store"),
        ({"ssl_truststore_location": "cut jks"}, "cannot be read as a Java key store"),
        ({"ssl_truststore_certificates": "nothing"}, "neither a certificate nor a key"),
        ({"ssl_cafile": "garbage"}, r"ssl_cafile='"),
        ({"ssl_ciphers": "no such"}, r"ssl_ciphers='no such'"),
    ],
)
def test_unusable_options_are_named_without_secrets(tmp_path, options, message):
    own = issued("alice")
    contents = {
        "jks": jks_key(own),
        "p12": p12_key(own),
        "other key": jks_key(own, key_password=KEY_PASSWORD),
        "encrypted pem": own.key_pem(KEY_PASSWORD) + own.pem,
        "mixed": issued("bob").key_pem() + own.pem,
        "certificate": own.pem,
        "key": own.key_pem(),
        "garbage": b"\x00garbage" * 20,
        "cut jks": jks_trust(own)[:40],
    }
    options = {name: written(tmp_path, "f", contents[v]) if v in contents else v for name, v in options.items()}
    with pytest.raises(KafkaConfigurationError, match=message) as caught:
        context_of(**options)
    assert "secret" not in str(caught.value)
    assert "PRIVATE KEY" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"ssl_cafile": __file__, "ssl_truststore_certificates": "x"},
            "'ssl_cafile' and 'ssl_truststore_certificates'",
        ),
        ({"ssl_certfile": __file__, "ssl_keystore_location": __file__}, "'ssl_certfile' and 'ssl_keystore_location'"),
        ({"ssl_keystore_key": "x"}, "must be set together"),
        ({"ssl_truststore_certificates": "x", "ssl_truststore_type": "PKCS12"}, "requires ssl_truststore_type='PEM'"),
    ],
)
def test_contradictory_options_are_rejected(options, message):
    with pytest.raises(KafkaConfigurationError, match=message):
        security(**options)


@pytest.mark.parametrize("protocol", ["PLAINTEXT", "SASL_PLAINTEXT"])
def test_there_is_no_context_without_tls(protocol):
    options = {"sasl_mechanism": "PLAIN", "sasl_plain_username": "u", "sasl_plain_password": "p"}
    assert context_of(security_protocol=protocol, **options) is None


def test_the_users_own_context_is_used_unchanged():
    own = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    assert context_of(ssl_context=own) is own


async def test_a_context_is_cached_until_one_of_its_files_changes(tmp_path):
    path = written(tmp_path, "trust", authority().pem)
    options = security(ssl_truststore_location=path)
    first = await tls_context(options)
    assert await tls_context(options) is first
    os.utime(path, ns=(1, 1))
    assert await tls_context(options) is not first


async def test_at_most_eight_contexts_are_cached_and_the_oldest_is_dropped():
    every = [security(ssl_truststore_certificates=authority().pem) for _ in range(9)]
    made = [await tls_context(each) for each in every[:8]]
    assert await tls_context(every[0]) is made[0]
    await tls_context(every[8])
    assert [await tls_context(each) for each in every[1:8]] == made[1:]
    assert await tls_context(every[0]) is not made[0]
