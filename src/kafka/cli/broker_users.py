"""The users of ``kafka broker``, and where their passwords come from: never from the command line."""

import os
import pathlib
import re
import sys
from collections.abc import Mapping, Sequence

import click

from kafka.cli.options import ask_password

_VARIABLE = "KAFKA_BROKER_PASSWORD_"


def variable(user: str) -> str:
    """The variable that may have a user's password: the name in capitals, with _ for all but letters and digits."""
    return _VARIABLE + re.sub(r"[^A-Z0-9]", "_", user.upper())


def users_with_passwords(
    users: Sequence[str], file: pathlib.Path | None, environ: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """Passwords by name: those of the file, then of each user by variable, or asked for on a terminal.

    Raises `click.UsageError`, which shows no password.
    """
    found = {} if file is None else _from_file(file)
    for user in users:
        if not user:
            raise click.UsageError("--user expects a name")
        if environ.get(variable(user)):
            found[user] = environ[variable(user)]
        elif user not in found:
            found[user] = _asked_for(user)
    return found


def _asked_for(user: str) -> str:
    if not sys.stdin.isatty():
        raise click.UsageError(
            f"no password for {user}: set {variable(user)}, add the user to --users-file, or run the command on a "
            "terminal to be prompted"
        )
    return ask_password(f"Password of {user}")


def _from_file(file: pathlib.Path) -> dict[str, str]:
    try:
        # Some editors begin a file with a mark, and more characters than a line feed end a line of str.splitlines.
        lines = file.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise click.UsageError(f"cannot read --users-file {file}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise click.UsageError(f"--users-file: {file} is not UTF-8 text") from None
    found = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, equals, password = line.partition("=")
        if not equals or not name.strip() or not password:
            raise click.UsageError(f"--users-file: line {number} of {file} is not of the form NAME=PASSWORD")
        found[name.strip()] = password
    if not found:  # a broker without users would take everybody
        raise click.UsageError(f"--users-file: {file} contains no users")
    return found
