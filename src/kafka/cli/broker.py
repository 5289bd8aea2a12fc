"""``kafka broker``: the embedded broker in the foreground."""

import dataclasses
import errno
import os
import pathlib
import re
import socket
from collections.abc import Callable
from typing import Any

import click

from kafka import broker
from kafka.broker.registry.server import RegistryPortError
from kafka.broker.settings import BrokerSettings
from kafka.cli.broker_users import users_with_passwords
from kafka.errors import IllegalStateError, KafkaConfigurationError

_WITHOUT_OPTION = frozenset({"topic_defaults", "users"})
"""Settings that are given in another way."""
_REGISTRY_PORT = 8081
"""Where programs expect a schema registry."""


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
            command = click.option(f"--{name}", type=int, **shown)(command)
        else:
            command = click.option(f"--{name}", **shown)(command)
    return command


def _pairs(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    pairs = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals:
            raise click.BadParameter(f"{one!r} is not of the form NAME=VALUE")
        pairs[name] = value
    return pairs


@click.command(name="broker")
@click.option(
    "--data-dir",
    type=click.Path(file_okay=False, path_type=pathlib.Path),
    help="Folder for the logs; without it a temporary one, removed at the end.",
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=9092, show_default=True, help="Port; 0 takes a free one."
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on. With 0.0.0.0 clients are told this machine's address; see --advertised-host.",
)
@click.option(
    "--topic-config",
    "topic_defaults",
    multiple=True,
    metavar="NAME=VALUE",
    callback=_pairs,
    help="A topic config that differs from Kafka's default, as retention.ms=60000; may be repeated.",
)
@click.option(
    "--user",
    "users",
    multiple=True,
    metavar="NAME",
    help="A user; clients then have to log in, by PLAIN or SCRAM. The password is in KAFKA_BROKER_PASSWORD_NAME (the "
    "name in capitals) or asked for on a terminal. May be repeated.",
)
@click.option(
    "--users-file",
    type=click.Path(dir_okay=False, path_type=pathlib.Path),
    help="Users and their passwords: NAME=PASSWORD in each line.",
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
    """Run the embedded broker until it is interrupted.

    It is for development and tests: one node, no replication. Records that were acknowledged survive a crash of the
    process; with --fsync a failure of the machine as well. In production run Apache Kafka.

    With users the listener is SASL_PLAINTEXT: passwords of PLAIN and all records pass in clear. Every user has all
    rights.
    """
    passwords = users_with_passwords(users, users_file)
    try:
        broker.run(data_dir=data_dir, host=host, port=port, users=passwords, **settings)
    except KafkaConfigurationError as error:
        raise click.UsageError(_by_options(str(error))) from error
    except IllegalStateError as error:
        raise click.ClickException(str(error)) from error
    except BrokenPipeError:
        raise  # nobody reads what it prints
    except OSError as error:
        raise click.ClickException(_not_opened(error, host, port)) from error


def _by_options(text: str) -> str:
    """What is wrong with settings, by the names of the options that give them."""
    for one in dataclasses.fields(BrokerSettings):
        option = {"topic_defaults": "--topic-config", "users": "--user"}.get(
            one.name, "--" + one.name.replace("_", "-")
        )
        text = re.sub(rf"^{one.name}\b", option, text)
    return text


def _not_opened(error: OSError, host: str, port: int) -> str:
    """Why the broker could not be started, by the option that says otherwise."""
    code = error.errno or 0
    if type(error) is OSError and error.errno is None:  # asyncio's since Python 3.13: no address could be bound
        code = errno.EADDRNOTAVAIL
    why = os.strerror(code) if code in errno.errorcode else error.strerror or str(error)
    if isinstance(error, RegistryPortError):
        return f"{error.strerror}; --registry-port takes another one, 0 any that is free"
    if error.errno == errno.EADDRINUSE:
        return f"port {port} is taken; --port takes another one, 0 any that is free"
    if isinstance(error, socket.gaierror):
        return f"--host {host}: {error.strerror}; expected an address of this machine, or 0.0.0.0 for all of them"
    if code == errno.EADDRNOTAVAIL:
        return f"--host {host}: {why}; expected an address of this machine, or 0.0.0.0 for all of them"
    if error.filename is not None:
        return f"--data-dir: {error.filename}: {why}"
    if error.errno == errno.EACCES:
        return f"port {port}: {why}; --port takes another one, from 1024 on without special rights"
    return why
