"""The credentials of SCRAM that administrators have set and deleted (KIP-554), kept in one small file.

No password is in it, but what passwords can be guessed by; so it is for the owner's eyes alone.
"""

import base64
import json
import logging
from collections.abc import Mapping
from pathlib import Path

from kafka.broker.codes import ErrorCode, RequestFailed
from kafka.broker.log.files import keep_damaged, replace_file
from kafka.broker.sasl.scram_credential import HASHES, ScramCredential

log = logging.getLogger(__name__)

Changes = Mapping[tuple[str, str], ScramCredential | None]
"""By mechanism and user; None: it is deleted."""


class AlteredCredentials:
    """See the module.

    Arguments:
        path: the file.
        sync: whether it is synced to the disk.
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
        """Whether it was set or deleted."""
        return (mechanism, user) in self._kept

    def get(self, mechanism: str, user: str) -> ScramCredential | None:
        """What was set; None: it was deleted, or nothing was set."""
        return self._kept.get((mechanism, user))

    def users(self) -> list[str]:
        """Those for whom something was set or deleted."""
        return [user for _, user in self._kept]

    def change(self, changes: Changes) -> None:
        """Set and delete; raises `RequestFailed` where it cannot be written, and nothing has changed."""
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
