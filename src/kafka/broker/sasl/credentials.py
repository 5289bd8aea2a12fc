"""The users of the broker: passwords for PLAIN, and the credentials that SCRAM stores instead of passwords.

Credentials that administrators set or delete (KIP-554) are stored in a small file. It does not contain passwords, but
as passwords can be guessed from it, only its owner can read it.
"""

import base64
import hashlib
import hmac
import json
import logging
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from kafka.broker.disk_files import keep_damaged, replace_file
from kafka.broker.error_codes import ErrorCode, RequestFailed

log = logging.getLogger(__name__)


HASHES: Final[Mapping[str, str]] = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}


class ScramCredential(NamedTuple):
    """The data that SCRAM stores instead of a password (RFC 5802).

    It neither reveals the password nor allows anyone to log in.
    """

    salt: bytes
    iterations: int
    stored_key: bytes
    server_key: bytes

    def __repr__(self) -> str:
        return f"ScramCredential(iterations={self.iterations})"


def from_salted_password(mechanism: str, salt: bytes, iterations: int, salted: bytes) -> ScramCredential:
    """Compute the credential from a salted and hashed password."""
    name = HASHES[mechanism]
    stored_key = hashlib.new(name, hmac.digest(salted, b"Client Key", name)).digest()
    return ScramCredential(salt, iterations, stored_key, hmac.digest(salted, b"Server Key", name))


Changes = Mapping[tuple[str, str], ScramCredential | None]
"""Credentials by mechanism and user; None deletes the credential."""


class AlteredCredentials:
    """The SCRAM credentials that administrators have set or deleted.

    Arguments:
        path: the file.
        sync: whether to sync the file to disk.
    """

    def __init__(self, path: Path, sync: bool) -> None:
        self._path = path
        self._sync = sync
        self._kept: dict[tuple[str, str], ScramCredential | None] = self._load()

    def _load(self) -> dict[tuple[str, str], ScramCredential | None]:
        try:
            rows = json.loads(self._path.read_bytes())
            return {
                (mechanism, str(user)): _read(kept) for mechanism in HASHES for user, kept in rows[mechanism].items()
            }
        except FileNotFoundError:
            return {}
        except (ValueError, AttributeError, KeyError, TypeError) as error:
            kept_as = keep_damaged(self._path).name
            log.error("%s is damaged (%r); it is kept as %s, the credentials are lost", self._path, error, kept_as)
            return {}

    def has(self, mechanism: str, user: str) -> bool:
        """Return whether the credential was set or deleted."""
        return (mechanism, user) in self._kept

    def get(self, mechanism: str, user: str) -> ScramCredential | None:
        """Return the credential; None if it was deleted or never set."""
        return self._kept.get((mechanism, user))

    def users(self) -> list[str]:
        """Return the users whose credentials were set or deleted."""
        return [user for _, user in self._kept]

    def change(self, changes: Changes) -> None:
        """Set and delete credentials. If writing fails, nothing changes, and `RequestFailed` is raised."""
        changed = {**self._kept, **changes}
        rows: dict[str, dict[str, list[str | int] | None]] = {mechanism: {} for mechanism in HASHES}
        for (mechanism, user), kept in changed.items():
            rows[mechanism][user] = None if kept is None else _written(kept)
        try:
            replace_file(self._path, json.dumps(rows).encode(), sync_name=self._sync, is_secret=True)
        except OSError as error:
            raise RequestFailed(ErrorCode.KAFKA_STORAGE_ERROR, f"{self._path}: {error}") from error
        self._kept = changed


def _written(kept: ScramCredential) -> list[str | int]:
    parts = (kept.salt, kept.stored_key, kept.server_key)
    return [kept.iterations, *(base64.b64encode(part).decode() for part in parts)]


def _read(row: list[str | int] | None) -> ScramCredential | None:
    if row is None:
        return None
    iterations, *parts = row
    salt, stored_key, server_key = (base64.b64decode(str(part), validate=True) for part in parts)
    return ScramCredential(salt, int(iterations), stored_key, server_key)


ITERATIONS: Final = 4096
_SALT_BYTES: Final = 24


class Credentials:
    """The users of a broker, and their credentials.

    Arguments:
        users: passwords by name.
        randomness: the source of salts.
        altered: SCRAM credentials that administrators have set or deleted, which take precedence.
    """

    def __init__(self, users: Mapping[str, str], randomness: random.Random, altered: AlteredCredentials) -> None:
        self.altered = altered
        self._passwords = {name.encode(): password.encode() for name, password in users.items()}
        self._random = randomness
        self._nobody = randomness.randbytes(32)
        self._scram: dict[str, dict[bytes, ScramCredential]] = {}
        """Credentials by mechanism and user name."""

    def is_password(self, user: bytes, password: bytes) -> bool:
        """Return whether a user's password is correct. The check takes the same time for unknown users."""
        known = self._passwords.get(user)
        # Digests have a fixed length, so the time does not reveal the length of the password.
        expected = hmac.digest(self._nobody, b"" if known is None else known, "sha256")
        given = hmac.digest(self._nobody, password, "sha256")
        return hmac.compare_digest(expected, given) and known is not None

    def scram(self, mechanism: str, user: str) -> ScramCredential:
        """Return a user's credential; for an unknown user, one that looks real and matches no password."""
        if self.altered.has(mechanism, user):
            return self.altered.get(mechanism, user) or self._unknown(mechanism, user)
        if mechanism not in self._scram:
            # Computed at the first login with this mechanism, as hashing a password takes milliseconds, and for all
            # users at once: otherwise the response time of a user's first login would reveal that the user exists.
            self._scram[mechanism] = self._made(mechanism)
        return self._scram[mechanism].get(user.encode()) or self._unknown(mechanism, user)

    def _made(self, mechanism: str) -> dict[bytes, ScramCredential]:
        """Compute the credentials of all users for one mechanism."""
        made = {}
        for name, password in self._passwords.items():
            salt = self._random.randbytes(_SALT_BYTES)
            salted = hashlib.pbkdf2_hmac(HASHES[mechanism], password, salt, ITERATIONS)
            made[name] = from_salted_password(mechanism, salt, ITERATIONS, salted)
        return made

    def iterations(self, user: str) -> dict[str, int]:
        """Return the iteration count for each of a user's SCRAM mechanisms; empty if the user has no credentials."""
        found = {}
        for mechanism in HASHES:
            if self.altered.has(mechanism, user):
                kept = self.altered.get(mechanism, user)
                if kept is not None:
                    found[mechanism] = kept.iterations
            elif user.encode() in self._passwords:
                found[mechanism] = ITERATIONS
        return found

    def scram_users(self) -> list[str]:
        """Return the users with SCRAM credentials."""
        names = dict.fromkeys([*(name.decode() for name in self._passwords), *self.altered.users()])
        return [name for name in names if self.iterations(name)]

    def _unknown(self, mechanism: str, user: str) -> ScramCredential:
        """Return a fake credential.

        Its salt never changes; otherwise, two attempts would reveal that the user is unknown.
        """
        salt = hmac.digest(self._nobody, f"{mechanism},{user}".encode(), "sha256")[:_SALT_BYTES]
        size = hashlib.new(HASHES[mechanism]).digest_size
        return ScramCredential(salt, ITERATIONS, self._random.randbytes(size), self._random.randbytes(size))

    def new_nonce(self) -> str:
        """Return a printable nonce without commas."""
        return self._random.randbytes(18).hex()
