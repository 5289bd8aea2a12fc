"""The audit log: one JSON line for each change, each refused change, and each login.

A line says when, who, with which role and login, from which address, what, and with which result. Keys and values of
records are not logged, only their sizes. Actions call `AuditLog.add`; the user comes from the request.
"""

from __future__ import annotations

import datetime
import errno
import json
import logging
import os
import pathlib
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

from kafka.ui.access.user import User, current_user

log = logging.getLogger(__name__)

DONE, FAILED, REFUSED = "done", "failed", "refused"
_LONGEST = 300
"""Maximum length of a text in a line, in characters."""


class AuditLog:
    """Appends lines to a file, or to standard error.

    Arguments:
        path: the file, which is created readable by its owner only; None for standard error.
        clock: returns the current time.

    Raises `OSError` if the file cannot be opened.
    """

    def __init__(
        self,
        path: pathlib.Path | None = None,
        clock: Callable[[], datetime.datetime] = lambda: datetime.datetime.now(datetime.UTC),
    ) -> None:
        self._path = path
        self._clock = clock
        self._lock = threading.Lock()
        self._is_cut_off = False
        """Whether the last line in the file has no end."""
        if path is not None:
            os.close(self._opened(path))

    def add(self, action: str, what: Mapping[str, Any], result: str, error: str = "", user: User | None = None) -> None:
        """Append a line.

        Arguments:
            action: what the user did, such as "create topic".
            what: what it was done to, for example ``{"topic": "orders"}``.
            result: `DONE`, `FAILED` or `REFUSED`.
            error: why it failed or was refused.
            user: the user, if it is not the request's.
        """
        user = user or current_user()
        line: dict[str, Any] = {
            "time": self._clock().isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "user": user.name[:_LONGEST],
            "role": user.role.value,
            "login": user.login,
            "from": user.address,
            "action": action,
            "what": {name: each[:_LONGEST] if isinstance(each, str) else each for name, each in what.items()},
            "result": result,
        }
        if error:
            line["error"] = error[:_LONGEST]
        self._append(json.dumps(line) + "\n")  # escapes everything but ASCII, so that a line stays a line

    def _append(self, line: str) -> None:
        with self._lock:
            try:
                if self._path is None:
                    sys.stderr.write(line)
                    sys.stderr.flush()
                else:
                    self._write(self._path, line.encode())
            except (OSError, ValueError) as error:  # the change has been made, so that its page must not fail
                log.error("cannot write to the audit log: %s; the line was: %s", error, line.rstrip())

    def _write(self, path: pathlib.Path, line: bytes) -> None:
        """Append a line in one piece, on a line of its own even if a full disk has cut off the one before it."""
        file = self._opened(path)  # again each time, so that the file may be rotated
        try:
            data = b"\n" + line if self._is_cut_off else line
            written = os.write(file, data)
            if written:
                self._is_cut_off = written < len(data)
            if written < len(data):
                raise OSError(errno.ENOSPC, f"only {written} of {len(data)} bytes could be written")
        finally:
            os.close(file)

    @staticmethod
    def _opened(path: pathlib.Path) -> int:
        return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
