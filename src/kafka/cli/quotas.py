"""``kafka quotas``: quotas of users, client ids and IP addresses."""

from collections.abc import Callable
from typing import Any

import click

from kafka.cli.common_options import connected, dry_run_option, pairs
from kafka.cli.session import Session
from kafka.cli.suggestions import CommandGroup

_KINDS = ("user", "client-id", "ip")
_DEFAULT = "<default>"


def _entities(inner: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that select the entity."""
    for kind in reversed(_KINDS):
        option = click.option(
            f"--{kind}", metavar="NAME", help=f"The {kind}, or {_DEFAULT} for every {kind} without quotas of its own."
        )
        inner = option(inner)
    return inner


def _entity(user: str | None, client_id: str | None, ip: str | None) -> dict[str, str | None]:
    given = zip(_KINDS, (user, client_id, ip), strict=True)
    return {kind: None if name == _DEFAULT else name for kind, name in given if name is not None}


@click.group(name="quotas", cls=CommandGroup, aliases={"describe": "list", "alter": "set"})
def command() -> None:
    """List, set and delete client quotas."""


@command.command(name="list")
@_entities
@click.option("--strict", is_flag=True, help="Show exact matches only.")
@connected
def list_quotas(session: Session, user: str | None, client_id: str | None, ip: str | None, strict: bool) -> None:
    """List all quotas, or those of a user, a client id or an IP address."""
    with session.admin() as admin:
        found = admin.describe_client_quotas(_entity(user, client_id, ip), strict=strict)
    rows = [
        {"entity": _named(each["entity"]), "quota": quota, "value": value}
        for each in found
        for quota, value in sorted(each["values"].items())
    ]
    session.output.table(sorted(rows, key=str), ["entity", "quota", "value"])


def _named(entity: dict[str, str | None]) -> dict[str, str]:
    return {kind: _DEFAULT if name is None else name for kind, name in entity.items()}


@command.command(name="set")
@_entities
@click.argument("quotas", nargs=-1, required=True, metavar="QUOTA=VALUE...")
@dry_run_option
@connected
def set_quotas(
    session: Session, user: str | None, client_id: str | None, ip: str | None, quotas: tuple[str, ...], dry_run: bool
) -> None:
    """Set quotas, such as consumer_byte_rate=1048576."""
    values: dict[str, float | None] = {}
    for name, text in pairs(quotas).items():
        try:
            values[name] = float(text)
        except ValueError:
            raise click.UsageError(f"expected a number as {name}, got {text!r}") from None
    _alter(session, _entity(user, client_id, ip), values, dry_run, "set")


@command.command()
@_entities
@click.argument("quotas", nargs=-1, required=True, metavar="QUOTA...")
@dry_run_option
@connected
def delete(
    session: Session, user: str | None, client_id: str | None, ip: str | None, quotas: tuple[str, ...], dry_run: bool
) -> None:
    """Delete quotas."""
    _alter(session, _entity(user, client_id, ip), dict.fromkeys(quotas), dry_run, "deleted")


def _alter(
    session: Session, entity: dict[str, str | None], quotas: dict[str, float | None], dry_run: bool, done: str
) -> None:
    if not entity:
        raise click.UsageError("expected --user, --client-id or --ip to select the quotas")
    with session.admin() as admin:
        for _, error in admin.alter_client_quotas([(entity, quotas)], validate_only=dry_run):
            if error.errno:
                raise error(f"cannot change the quotas of {_named(entity)}")
    text = f"{', '.join(quotas)}: {'would be ' if dry_run else ''}{done}"
    session.output.done(text, {"entity": _named(entity), "quotas": quotas, "dry_run": dry_run})
