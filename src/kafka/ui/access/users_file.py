"""The file of users: one line per user, with a name, a role, and the hash of a password or token.

A line is ``NAME:ROLE:HASH``, for example ``alice:operator:scrypt$...``; empty lines and lines that begin with # are
skipped. The file is read again when it changes, so that a user who was removed or got another role is affected at once.
"""

from __future__ import annotations

import os
import pathlib
from typing import NamedTuple

from kafka.ui.access.password_hashes import check_hash, is_token_hash, matches, new_token, password_hash, token_hash
from kafka.ui.access.user import Role, role_named

_LONGEST_NAME = 100
_NOBODY = "scrypt$32768$8$1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
"""A hash that no password has. It is compared for unknown names, so that these take as long as known ones."""


class Entry(NamedTuple):
    """A user of the file."""

    name: str
    role: Role
    hash: str


class UsersFile:
    """The users in a file.

    Arguments:
        path: the file.

    Raises `ValueError` if the file cannot be read, has an invalid line, or has no users.
    """

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self._stamp: tuple[int, int, int] | None = None
        self._entries: dict[str, Entry] = {}
        self._refresh()

    def version(self) -> str:
        """Return a text that changes whenever the file does. Raises `ValueError`."""
        self._refresh()
        return str(self._stamp)

    def role_of(self, name: str, is_token: bool) -> Role | None:
        """Return a user's current role; None if the user is no longer in the file. Raises `ValueError`."""
        self._refresh()
        entry = self._entries.get(name)
        return None if entry is None or is_token_hash(entry.hash) != is_token else entry.role

    def by_password(self, name: str, password: str) -> Entry | None:
        """Return the user with a name and password; None if there is none. Takes a tenth of a second."""
        self._refresh()
        entry = self._entries.get(name)
        known = entry is not None and not is_token_hash(entry.hash)
        found = matches(password, entry.hash if entry is not None and known else _NOBODY)
        return entry if found and known else None

    def by_token(self, token: str) -> Entry | None:
        """Return the user with a token; None if there is none. Compares with all tokens, in constant time."""
        self._refresh()
        found = None
        for each in self._entries.values():
            if is_token_hash(each.hash) and matches(token, each.hash):
                found = each
        return found

    def _refresh(self) -> None:
        try:
            now = self.path.stat()
            stamp = (now.st_mtime_ns, now.st_size, now.st_ino)
            if stamp == self._stamp:
                return
            text = self.path.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(f"cannot read the file of users {self.path}: {error}") from None
        self._entries = parse(text, str(self.path))
        self._stamp = stamp


def parse(text: str, where: str) -> dict[str, Entry]:
    """Parse the content of a file of users. Raises `ValueError` with the number of the first invalid line."""
    found: dict[str, Entry] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            name, role, stored = line.strip().split(":")
            entry = Entry(check_name(name), role_named(role), check_hash(stored))
        except ValueError as error:
            what = "expected NAME:ROLE:HASH" if line.count(":") != 2 else str(error)
            raise ValueError(f"{where}, line {number}: {what}") from None
        if entry.name in found:
            raise ValueError(f"{where}, line {number}: the user {entry.name!r} is on an earlier line, too")
        found[entry.name] = entry
    if not found:
        raise ValueError(f"{where} has no users; add one with: kafka ui --users {where} --add-user NAME:ROLE")
    return found


def check_name(name: str) -> str:
    """Return a user's name. Raises `ValueError` if it is empty, too long, or has characters that a line cannot have."""
    if not 0 < len(name) <= _LONGEST_NAME or name != name.strip() or ":" in name or not name.isprintable():
        raise ValueError(
            f"expected a name of 1 to {_LONGEST_NAME} printable characters without colons, got {name!r:.60}"
        )
    if name.startswith("#"):
        raise ValueError(f"expected a name that does not begin with #, got {name!r:.60}")
    return name


def add(path: pathlib.Path, given: str, password: str | None) -> str:
    """Add a user to the file, which is created if it does not exist, or replace the user's line.

    Arguments:
        given: ``NAME:ROLE``.
        password: the password; None for a user with a token.

    Returns the new token, or "" for a user with a password. Raises `ValueError` and `OSError`.
    """
    name, colon, role = given.partition(":")
    if not colon:
        raise ValueError(f"expected NAME:ROLE, such as alice:operator, got {given!r:.60}")
    token = "" if password is not None else new_token()
    stored = token_hash(token) if password is None else password_hash(password)
    line = f"{check_name(name)}:{role_named(role).value}:{stored}"
    text = path.read_text("utf-8") if path.exists() else ""
    if text.strip():
        parse(text, str(path))
    kept = [each for each in text.splitlines() if each.partition(":")[0].strip() != name or each.startswith("#")]
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write("\n".join([*kept, line]) + "\n")
    beside.replace(path)
    return token
