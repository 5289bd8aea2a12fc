"""``kafka broker``: runs the embedded broker in the foreground, optionally with users.

Passwords come from a file, an environment variable or a prompt, never from the command line.
"""

import dataclasses
import errno
import os
import pathlib
import re
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from kafka import broker
from kafka.broker.broker_settings import BrokerSettings
from kafka.cli.common_options import ask_password, host_option, port_option, port_problem
from kafka.errors import IllegalStateError, KafkaConfigurationError

_WITHOUT_OPTION = frozenset({"topic_defaults", "users"})
"""Settings for which there is no option of the same name."""
_REGISTRY_PORT = 8081
"""The default port of schema registries."""


def _with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Add an option for each setting of the broker."""
    for one in reversed(dataclasses.fields(BrokerSettings)):
        if one.name in _WITHOUT_OPTION:
            continue
        name, text = one.name.replace("_", "-"), one.metadata["doc"]
        default = _REGISTRY_PORT if one.name == "registry_port" else one.default
        shown: dict[str, Any] = {"default": default, "show_default": default is not None, "help": text}
        if isinstance(one.default, bool):
            command = click.option(f"--{name}/--no-{name}", **shown)(command)
        elif isinstance(one.default, int) or "int" in str(one.type):
            unit = {"ms": "MS", "bytes": "BYTES", "port": "PORT", "id": "ID"}.get(name.rpartition("-")[2], "COUNT")
            command = click.option(f"--{name}", type=int, metavar=unit, **shown)(command)
        else:
            command = click.option(f"--{name}", metavar="NAME", **shown)(command)
    return command


def _pairs(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    pairs = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals:
            raise click.BadParameter(f"expected NAME=VALUE, got {one!r}")
        pairs[name] = value
    return pairs


@click.command(name="broker")
@click.option(
    "--data-dir",
    type=click.Path(file_okay=False, path_type=pathlib.Path),
    help="Directory for the logs. [default: a temporary directory, removed on exit]",
)
@port_option(9092)
@host_option("With 0.0.0.0, clients are given this machine's address; see --advertised-host.")
@click.option(
    "--topic-config",
    "topic_defaults",
    multiple=True,
    metavar="NAME=VALUE",
    callback=_pairs,
    help="Override the default of a topic config, such as retention.ms=60000; repeatable.",
)
@click.option(
    "--user",
    "users",
    multiple=True,
    metavar="NAME",
    help="Add a user and require clients to authenticate with PLAIN or SCRAM. The password is read from "
    "KAFKA_BROKER_PASSWORD_NAME (the name in capitals) or prompted for on a terminal. Repeatable.",
)
@click.option(
    "--users-file",
    type=click.Path(dir_okay=False, path_type=pathlib.Path),
    help="File with users and passwords, one NAME=PASSWORD per line.",
)
@_with_settings
def command(
    data_dir: pathlib.Path | None,
    port: int,
    host: str,
    users: tuple[str, ...],
    users_file: pathlib.Path | None,
    **settings: object,
) -> None:
    """Run the embedded broker until interrupted.

    For development and tests: one node, no replication. Acknowledged records survive a crash of the process and, with
    --fsync, a failure of the machine. In production, run Apache Kafka.

    With users, the listener is SASL_PLAINTEXT: PLAIN passwords and all records are sent unencrypted. Every user has
    full access.
    """
    passwords = users_with_passwords(users, users_file)
    try:
        broker.run(data_dir=data_dir, host=host, port=port, users=passwords, **settings)
    except KafkaConfigurationError as error:
        raise click.UsageError(_by_options(str(error))) from error
    except IllegalStateError as error:
        raise click.ClickException(str(error)) from error
    except BrokenPipeError:
        raise  # the program that reads the output has closed the pipe
    except OSError as error:
        raise click.ClickException(_not_opened(error, host, port)) from error


def _by_options(text: str) -> str:
    """Replace the name of a setting in an error message with its command-line option."""
    for one in dataclasses.fields(BrokerSettings):
        option = {"topic_defaults": "--topic-config", "users": "--user"}.get(
            one.name, "--" + one.name.replace("_", "-")
        )
        text = re.sub(rf"^{one.name}\b", option, text)
    return text


def _not_opened(error: OSError, host: str, port: int) -> str:
    """Explain why the broker could not be started, and name the option to change."""
    from kafka.broker.registry.http_server import RegistryPortError

    code = error.errno or 0
    if type(error) is OSError and error.errno is None:  # raised by asyncio since Python 3.13 if binding fails
        code = errno.EADDRNOTAVAIL
    why = os.strerror(code) if code in errno.errorcode else error.strerror or str(error)
    if isinstance(error, RegistryPortError):
        return f"{error.strerror}; choose another with --registry-port (0 picks a free one)"
    if problem := port_problem(error, port):
        return problem
    if isinstance(error, socket.gaierror):
        return (
            f"--host {host}: {error.strerror}; expected an address of this machine, or 0.0.0.0 for all of its addresses"
        )
    if code == errno.EADDRNOTAVAIL:
        return f"--host {host}: {why}; expected an address of this machine, or 0.0.0.0 for all of its addresses"
    if error.filename is not None:
        return f"--data-dir: {error.filename}: {why}"
    return why


_VARIABLE = "KAFKA_BROKER_PASSWORD_"


def variable(user: str) -> str:
    """Return the environment variable for a user's password; it ends with the name in capitals, digits and _."""
    return _VARIABLE + re.sub(r"[^A-Z0-9]", "_", user.upper())


def users_with_passwords(
    users: Sequence[str], file: pathlib.Path | None, environ: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """Return passwords by user: first those in the file, then each user's password from a variable or a prompt.

    Raises `click.UsageError`, whose message does not contain a password.
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
        # Some editors write a byte order mark. str.splitlines() would also split at characters other than a line feed.
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
    if not found:  # a broker without users would accept everyone
        raise click.UsageError(f"--users-file: {file} contains no users; write a line NAME=PASSWORD for each")
    return found
