"""Hashes of passwords and tokens, and their comparison in constant time.

Passwords are hashed with scrypt, which is slow on purpose. Tokens are random, so that a fast hash is enough. To change
the cost of scrypt, change `_COST`: each hash states its own cost, so older ones stay valid.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from typing import NamedTuple

_COST = (1 << 15, 8, 1)
"""The parameters n, r and p of scrypt: 32 MiB of memory, and about a tenth of a second."""
_LARGEST_MEMORY = 256 << 20
_SALT_BYTES = 16
_TOKEN_BYTES = 32
SHORTEST_PASSWORD = 8
LONGEST_PASSWORD = 1024
"""Limits on the number of characters of a password. Longer ones are not hashed."""


class _Scrypt(NamedTuple):
    n: int
    r: int
    p: int
    salt: bytes
    digest: bytes


def password_hash(password: str) -> str:
    """Return the hash of a password, with a new salt. Raises `ValueError` for a password that is too short or long."""
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise ValueError(
            f"expected a password of {SHORTEST_PASSWORD} to {LONGEST_PASSWORD:,} characters, got {len(password):,}"
        )
    salt = secrets.token_bytes(_SALT_BYTES)
    n, r, p = _COST
    digest = _digest(password, _Scrypt(n, r, p, salt, b""))
    return f"scrypt${n}${r}${p}${_text(salt)}${_text(digest)}"


def new_token() -> str:
    """Return a random token."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


def token_hash(token: str) -> str:
    """Return the hash of a token."""
    return f"sha256${_text(hashlib.sha256(token.encode('utf-8', 'surrogatepass')).digest())}"


def check_hash(text: str) -> str:
    """Return a hash as it is. Raises `ValueError` if it is not one of the forms that this module writes."""
    if text.startswith("sha256$"):
        if len(_bytes(text.removeprefix("sha256$"))) != hashlib.sha256().digest_size:
            raise ValueError("expected a hash as written by --add-user or --add-token, got a shortened one")
        return text
    _scrypt(text)
    return text


def is_token_hash(text: str) -> bool:
    """Return whether a hash is that of a token."""
    return text.startswith("sha256$")


def matches(given: str, stored: str) -> bool:
    """Return whether a password or token has a hash. The time it takes does not depend on where they differ."""
    if len(given) > LONGEST_PASSWORD:
        return False
    if is_token_hash(stored):
        return hmac.compare_digest(token_hash(given).encode(), stored.encode())
    parts = _scrypt(stored)
    return hmac.compare_digest(_digest(given, parts), parts.digest)


def _digest(password: str, parts: _Scrypt) -> bytes:
    return hashlib.scrypt(
        password.encode("utf-8", "surrogatepass"),
        salt=parts.salt,
        n=parts.n,
        r=parts.r,
        p=parts.p,
        maxmem=_LARGEST_MEMORY,
        dklen=32,
    )


def _scrypt(text: str) -> _Scrypt:
    kind, *numbers = text.split("$")
    try:
        n, r, p, salt, digest = numbers
        parts = _Scrypt(int(n), int(r), int(p), _bytes(salt), _bytes(digest))
    except ValueError:
        raise ValueError("expected a hash as written by --add-user or --add-token") from None
    if kind != "scrypt" or parts.n < 2 or parts.n & (parts.n - 1) or 128 * parts.n * parts.r > _LARGEST_MEMORY // 2:
        raise ValueError("expected a hash as written by --add-user or --add-token")
    if len(parts.digest) != 32 or not parts.salt or parts.p != 1 or parts.r < 1:
        raise ValueError("expected a hash as written by --add-user or --add-token, got a shortened one")
    return parts


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except binascii.Error:
        raise ValueError("expected base64") from None
