"""Options of commands that use a schema registry."""

import functools
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kafka.cli.command_output import Output
from kafka.cli.common_options import output_options, pairs
from kafka.cli.suggestions import missing

if TYPE_CHECKING:
    from kafka.schema_registry import SchemaRegistryClient

R = TypeVar("R")
NO_SUBJECT = 40401
"""The registry's error code for a subject that does not exist."""
_USER = "KAFKA_SCHEMA_REGISTRY_USER_INFO"


def with_registry(command: Callable[..., R]) -> Callable[..., R]:
    """Add the options for the registry and the output; the command gets a client and the `Output`."""

    @functools.wraps(command)
    def run(
        *args: Any,
        registry_url: str | None,
        registry_options: tuple[str, ...],
        output: Output,
        **given: Any,
    ) -> R:
        from kafka.schema_registry import SchemaRegistryError

        with _client(registry_url, registry_options) as registry:
            try:
                return command(registry, output, *args, **given)
            except SchemaRegistryError as error:
                subject = given.get("subject")
                if error.error_code != NO_SUBJECT or not subject:
                    raise
                text = missing("subject", subject, registry.get_subjects(), "see 'kafka schemas list'")
                raise click.ClickException(text) if text else error from error

    noted: Callable[..., R] = output_options(run)
    for note in reversed(_NOTES):
        noted = note(noted)
    return noted


_OPTION = click.option(
    "--registry-option",
    "registry_options",
    multiple=True,
    metavar="NAME=VALUE",
    help=f"Option of the registry client, such as ssl.ca.location=ca.pem; repeatable. Prefer {_USER} for "
    "USER:PASSWORD, as others can see the process list.",
)
_NOTES: list[Callable[[Callable[..., Any]], Callable[..., Any]]] = [
    click.option(
        "--registry",
        "registry_url",
        envvar="KAFKA_SCHEMA_REGISTRY_URL",
        metavar="URL",
        help="Schema registry; separate several URLs with commas. [env: KAFKA_SCHEMA_REGISTRY_URL; default: "
        "http://localhost:8081]",
    ),
    _OPTION,
]
_NUMBERS = (
    "timeout",
    "cache.capacity",
    "cache.latest.ttl.sec",
    "max.retries",
    "retries.wait.ms",
    "retries.max.wait.ms",
)
"""Options of the client that are not strings."""


def with_registry_if_given(command: Callable[..., R]) -> Callable[..., R]:
    """Add the options for an optional registry; the command gets the client's options as `registry`, or None."""

    @functools.wraps(command)
    def run(*args: Any, registry_url: str | None, registry_options: tuple[str, ...], **given: Any) -> R:
        if registry_options and not registry_url:
            raise click.UsageError("--registry-option requires --registry URL")
        registry = _conf(registry_url, registry_options) if registry_url else None
        return command(*args, registry=registry, **given)

    url = click.option(
        "--registry",
        "registry_url",
        envvar="KAFKA_SCHEMA_REGISTRY_URL",
        metavar="URL",
        help="Schema registry; separate several URLs with commas. [env: KAFKA_SCHEMA_REGISTRY_URL]",
    )
    noted: Callable[..., R] = url(_OPTION(run))
    return noted


def _client(url: str | None, options: tuple[str, ...]) -> "SchemaRegistryClient":
    from kafka.schema_registry import SchemaRegistryClient

    return SchemaRegistryClient({"timeout": 10, "max.retries": 1} | _conf(url or "http://localhost:8081", options))


def _conf(url: str, options: tuple[str, ...]) -> dict[str, Any]:
    """Return the options of the registry's client."""
    for each in url.split(","):
        if not each.strip().startswith(("http://", "https://")):
            is_plain = "://" not in each and "@" not in each  # others may contain a password
            advice = f"; did you mean 'http://{each.strip()}'?" if is_plain else ""
            raise click.UsageError(f"--registry expects URLs of the form http://HOST:PORT or https://HOST{advice}")
    conf: dict[str, Any] = {"url": url}
    if os.environ.get(_USER):
        conf["basic.auth.user.info"] = os.environ[_USER]
    for name, value in pairs(options).items():
        conf[name] = _number(name, value) if name in _NUMBERS else value
    return conf


def _number(name: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise click.UsageError(f"--registry-option {name} expects a number, got {value!r}") from None
