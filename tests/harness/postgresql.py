"""Starts a PostgreSQL server for tests, in a directory of its own, on a Unix socket.

The programs are those of an installed server: on Debian, ``apt-get install postgresql``.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

USER = "writer"
PASSWORD = "not-to-be-shown"
_START_S = 120
_SETTINGS = "-c listen_addresses= -c fsync=off -c full_page_writes=off -c shared_buffers=16MB"


class NoServerError(Exception):
    """No PostgreSQL server can be started; the message is the reason."""


@dataclasses.dataclass(frozen=True)
class PostgresqlServer:
    """A running server.

    Arguments:
        directory: the directory of its socket.
    """

    directory: Path

    @property
    def url(self) -> str:
        """The connection, without the user and the password."""
        return f"host={self.directory} dbname=postgres"

    @property
    def with_password(self) -> str:
        """The connection string, with the user and the password."""
        return f"{self.url} user={USER} password={PASSWORD}"


def programs() -> Path:
    """Return the directory with ``initdb`` and ``pg_ctl``. Raises `NoServerError` if there is none."""
    found = shutil.which("initdb")
    candidates = [Path(found).resolve().parent] if found else []
    candidates += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for each in candidates:
        if (each / "initdb").exists() and (each / "pg_ctl").exists():
            return each
    raise NoServerError("no PostgreSQL server is installed (on Debian: apt-get install postgresql)")


@contextlib.contextmanager
def postgresql_server() -> Iterator[PostgresqlServer]:
    """Start a server with the superuser `USER`, and stop it afterwards. Raises `NoServerError`."""
    tools = programs()
    directory = Path(tempfile.mkdtemp(prefix="pg-"))
    owner = _owner()
    if owner is not None:
        os.chown(directory, owner.pw_uid, owner.pw_gid)

    def run(program: str, *arguments: str) -> None:
        as_owner = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []} if owner is not None else {}
        log = directory / f"{program}.output"  # a file, because the server keeps a pipe open
        with log.open("ab") as output:
            done = subprocess.run(
                [str(tools / program), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=directory,
                env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"},
                timeout=_START_S,
                **as_owner,  # type: ignore[call-overload]
            )
        if done.returncode:
            raise NoServerError(f"{program} failed: {log.read_text(errors='replace')[-500:]}")

    try:
        password = directory / "password"
        password.write_text(PASSWORD)
        if owner is not None:
            os.chown(password, owner.pw_uid, owner.pw_gid)
        data = str(directory / "data")
        run("initdb", "-D", data, "-U", USER, "--auth=scram-sha-256", f"--pwfile={password}", "-E", "UTF8", "--no-sync")
        server_log = str(directory / "server.log")
        run("pg_ctl", "-D", data, "-w", "-l", server_log, "-o", f"{_SETTINGS} -k {directory}", "start")
        try:
            yield PostgresqlServer(directory)
        finally:
            run("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _owner() -> pwd.struct_passwd | None:
    """Return the user that runs the server; None for the current one. PostgreSQL does not run as root."""
    if os.getuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise NoServerError("PostgreSQL does not run as root, and there is neither a user postgres nor nobody")
