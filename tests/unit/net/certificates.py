"""Certificates and Java key stores for tests, created once per process."""

import dataclasses
import datetime
import functools
import ipaddress

import jks
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import pkcs12

STORE_PASSWORD = "store-secret"
KEY_PASSWORD = "key-secret"
_DAY = datetime.timedelta(days=1)


@dataclasses.dataclass(frozen=True)
class Issued:
    """A certificate and its key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def pem(self) -> str:
        return self.certificate.public_bytes(serialization.Encoding.PEM).decode()

    @property
    def der(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.DER)

    def key_pem(self, password: str | None = None) -> str:
        protection = serialization.BestAvailableEncryption(password.encode()) if password else None
        return self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, protection or serialization.NoEncryption()
        ).decode()

    @property
    def key_der(self) -> bytes:
        return self.key.private_bytes(
            serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )


@functools.cache
def issued(
    name: str, by: str = "authority", hosts: tuple[str, ...] = ("localhost", "127.0.0.1"), days: int = 30
) -> Issued:
    """Return a certificate of this name, the same each time. With ``days`` < 0, it expired that many days ago."""
    key = ec.generate_private_key(ec.SECP256R1())
    issuer = None if by == name else issued(by, by)
    now = datetime.datetime.now(datetime.UTC)
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.certificate.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - 90 * _DAY)
        .not_valid_after(now + days * _DAY)
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
    )
    if issuer is not None:
        names = [_general(each) for each in hosts]
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return Issued(builder.sign(issuer.key if issuer else key, hashes.SHA256()), key)


def _general(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def authority(name: str = "authority") -> Issued:
    return issued(name, name)


def revocations(*revoked: Issued) -> str:
    """Return a revocation list of the authority as PEM text."""
    now = datetime.datetime.now(datetime.UTC)
    builder = (
        x509.CertificateRevocationListBuilder()
        .issuer_name(authority().certificate.subject)
        .last_update(now - _DAY)
        .next_update(now + _DAY)
    )
    for each in revoked:
        entry = x509.RevokedCertificateBuilder().serial_number(each.certificate.serial_number)
        builder = builder.add_revoked_certificate(entry.revocation_date(now - _DAY).build())
    return builder.sign(authority().key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM).decode()


def jks_trust(*trusted: Issued) -> bytes:
    entries = [jks.TrustedCertEntry.new(f"ca{number}", each.der) for number, each in enumerate(trusted)]
    return jks.KeyStore.new("jks", entries).saves(STORE_PASSWORD)


def jks_key(*owned: Issued, key_password: str = STORE_PASSWORD) -> bytes:
    entries = []
    for number, each in enumerate(owned):
        chain = [each.der, authority().der]
        entry = jks.PrivateKeyEntry.new(f"key{number}", chain, each.key_der, "pkcs8")
        entry.encrypt(key_password)
        entries.append(entry)
    return jks.KeyStore.new("jks", entries).saves(STORE_PASSWORD)


def p12_trust(*trusted: Issued) -> bytes:
    protection = serialization.BestAvailableEncryption(STORE_PASSWORD.encode())
    certificates = [pkcs12.PKCS12Certificate(each.certificate, b"ca") for each in trusted]
    return pkcs12.serialize_key_and_certificates(None, None, None, certificates, protection)


def p12_key(owned: Issued) -> bytes:
    protection = serialization.BestAvailableEncryption(STORE_PASSWORD.encode())
    return pkcs12.serialize_key_and_certificates(
        b"key", owned.key, owned.certificate, [authority().certificate], protection
    )
