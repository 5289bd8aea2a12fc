"""``kafka users``: SCRAM users and their credentials."""

from typing import Any

import click

from kafka.cli.command_output import note, printable
from kafka.cli.common_options import AnyCase, WholeNumber, confirm, connected, given_password, yes_option
from kafka.cli.session import Session
from kafka.cli.suggestions import CommandGroup

_MECHANISMS = ("SCRAM-SHA-256", "SCRAM-SHA-512")
_ITERATIONS = WholeNumber(1, 2**31 - 1)
_mechanism_option = click.option(
    "-m",
    "--mechanism",
    type=AnyCase(_MECHANISMS),
    default=_MECHANISMS[1],
    show_default=True,
    help="SCRAM mechanism of the credential.",
)
_ALIASES = {"describe": "list", "describe-scram-credentials": "list", "create": "set"}


@click.group(name="users", cls=CommandGroup, aliases=_ALIASES)
def command() -> None:
    """List SCRAM users; set and delete their credentials."""


@command.command(name="list")
@click.argument("names", nargs=-1, metavar="USER...")
@click.option("--user", "users", multiple=True, metavar="USER", help="Same as USER.")
@connected
def list_users(session: Session, names: tuple[str, ...], users: tuple[str, ...]) -> None:
    """List users and their mechanisms. Without USER, lists all users."""
    wanted = list(dict.fromkeys([*names, *users]))  # Kafka returns nothing for a user given twice
    with session.admin() as admin:
        found = admin.describe_user_scram_credentials(wanted or None)
    rows = []
    for user, told in sorted(found.items()):
        for each in told.get("credential_infos", ()):
            rows.append({"user": user, "mechanism": _mechanism(each["mechanism"]), "iterations": each["iterations"]})
    session.output.table(rows, ["user", "mechanism", "iterations"])
    for user, told in found.items():
        if told.get("error"):
            note(printable(f"{user}: {told['error']}"))


def _mechanism(given: Any) -> str:
    from kafka.admin import ScramMechanism

    name = given if isinstance(given, str) else ScramMechanism(given).name
    return str(name).replace("_", "-")


@command.command(name="set")
@click.argument("user")
@click.argument("more", nargs=-1, metavar="")
@_mechanism_option
@click.option("--iterations", type=_ITERATIONS, metavar="COUNT", help="Number of hash iterations. [default: 4096]")
@connected
def set_password(session: Session, user: str, more: tuple[str, ...], mechanism: str, iterations: int | None) -> None:
    """Create a user or change its password. Prompts for the password, or reads the first line of standard input."""
    from kafka.admin import UserScramCredentialUpsertion

    if more:
        raise click.UsageError(
            "expected only USER: the password is prompted for, or read from the first line of standard input"
        )
    password = given_password("Password")
    with session.admin() as admin:
        upsertion = UserScramCredentialUpsertion(user, mechanism, password, iterations=iterations)
        result = admin.alter_user_scram_credentials([upsertion])
    _report(session, result, "set")


@command.command()
@click.argument("user")
@_mechanism_option
@yes_option
@connected
def delete(session: Session, user: str, mechanism: str, yes: bool) -> None:
    """Delete a user's credential."""
    from kafka.admin import UserScramCredentialDeletion

    confirm(f"Delete the {mechanism} credential of {user}?", yes)
    with session.admin() as admin:
        result = admin.alter_user_scram_credentials([UserScramCredentialDeletion(user, mechanism)])
    _report(session, result, "deleted")


@command.command(name="alter-scram-credentials", hidden=True)
@click.option("--delete", "deletions", multiple=True, metavar="USER:MECHANISM")
@click.option("--upsert", "upsertions", multiple=True, metavar="USER:MECHANISM:PASSWORD")
@click.option("--iterations", type=_ITERATIONS)
@connected
def alter(session: Session, deletions: tuple[str, ...], upsertions: tuple[str, ...], iterations: int | None) -> None:
    """kafka-python's command. Prefer 'set' and 'delete', which do not show passwords in the process list."""
    from kafka.admin import UserScramCredentialDeletion, UserScramCredentialUpsertion

    changes: list[Any] = []
    for each in deletions:
        if each.count(":") != 1:
            raise click.UsageError("--delete expects USER:MECHANISM")
        changes.append(UserScramCredentialDeletion(*each.split(":")))
    for each in upsertions:
        if each.count(":") < 2:
            raise click.UsageError("--upsert expects USER:MECHANISM:PASSWORD")
        user, mechanism, password = each.split(":", 2)
        changes.append(UserScramCredentialUpsertion(user, mechanism, password, iterations=iterations))
    if not changes:
        raise click.UsageError("expected --upsert or --delete")
    with session.admin() as admin:
        result = admin.alter_user_scram_credentials(changes)
    _report(session, result, "changed")


def _report(session: Session, result: dict[str, str | None], done: str) -> None:
    failed = {user: told for user, told in result.items() if told}
    if session.output.as_json:
        session.output.data([{"user": user, "result": told or done} for user, told in result.items()])
    else:
        for user, told in result.items():
            click.echo(f"{user}: {told}" if told else f"{user}: {done}", err=bool(told))
    if failed:
        raise click.exceptions.Exit(1)
