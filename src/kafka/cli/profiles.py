"""``kafka profiles``: named settings for clusters, in the profiles file.

`profile_file.py` edits the file; `client_settings.py` reads profiles for all commands. Secrets are never printed.
"""

import os
from collections.abc import Mapping
from typing import Any

import click

from kafka.cli.common_options import complete_profile, confirm, connected, given_password, yes_option
from kafka.cli.profile_file import ProfileFile, Setting, profiles_file
from kafka.cli.session import Session
from kafka.cli.suggestions import CommandGroup

_ALIASES = {"create": "set", "delete": "remove", "describe": "show", "default": "use"}
_HIDDEN = "(hidden)"


@click.group(name="profiles", cls=CommandGroup, aliases=_ALIASES)
def command() -> None:
    """List, show, set and remove profiles: named settings for clusters.

    Use a profile with --profile NAME, KAFKA_PROFILE=NAME, or as the default. The profiles are in
    ~/.config/kafka/profiles.toml, or in the file named by KAFKA_PROFILES.
    """


@command.command(name="list")
@connected
def list_profiles(session: Session) -> None:
    """List profiles. The default profile has a star."""
    file = _opened()
    rows = [
        {
            "profile": name,
            "default": "*" if name == _current(file) else "",
            "bootstrap_servers": _shown("bootstrap_servers", _first(profile, "bootstrap_servers", "bootstrap.servers")),
            "security": _first(profile, "security_protocol", "security.protocol"),
            "mechanism": _first(profile, "sasl_mechanism", "sasl.mechanism"),
            "config": profile.get("config"),
        }
        for name, profile in sorted(file.profiles.items())
    ]
    session.output.table(rows, ["profile", "default", "bootstrap_servers", "security", "mechanism", "config"])


@command.command()
@click.argument("name", required=False, shell_complete=complete_profile)
@connected
def show(session: Session, name: str | None) -> None:
    """Show the settings of a profile, by default of the default profile. Secrets are hidden."""
    file = _opened()
    name = name or _current(file)
    if name is None:
        raise click.UsageError("expected the name of a profile, as there is no default profile")
    _check_exists(file, name)
    session.output.fields({each: _shown(each, value) for each, value in file.profiles[name].items()})


@command.command(name="set")
@click.argument("name", shell_complete=complete_profile)
@click.option("--unset", multiple=True, metavar="NAME", help="Setting to remove from the profile; repeatable.")
@click.option("--default", "is_default", is_flag=True, help="Make this the default profile.")
@click.option(
    "--ask-password", is_flag=True, help="Prompt for the SASL password, or read the first line of standard input."
)
@connected
def set_profile(session: Session, name: str, unset: tuple[str, ...], is_default: bool, ask_password: bool) -> None:
    """Create a profile, or change settings of one. Other settings of the profile remain.

    The settings are those of the connection options, such as -b, -S, -M, -U, --config and -X. The file gets mode 600,
    so that only its owner can read it.
    """
    if name in ("", "default"):
        raise click.UsageError(f"{name!r} cannot be the name of a profile")
    from kafka.cli.client_settings import check_profile

    given = _settings(session)
    if ask_password:
        given["sasl_plain_password"] = given_password("SASL password")
    file = _opened()
    exists = name in file.profiles
    for each in unset:
        if each not in file.profiles.get(name, {}):
            there = ", ".join(file.profiles.get(name, {})) or "no settings"
            raise click.UsageError(f"--unset {each}: the profile has {there}")
    if not given and not unset and not is_default:
        raise click.UsageError("expected settings, such as -b HOST:PORT, -X NAME=VALUE or --config FILE")
    if given or unset or not exists:
        file.change(name, {**dict.fromkeys(unset), **given})
        check_profile(file.path, name, file.profiles[name])
    if is_default:
        file.set_default(name)
    file.save()
    session.output.done(f"{name}: {'changed' if exists else 'created'} in {file.path}", {"profile": name})


@command.command()
@click.argument("name", required=False, shell_complete=complete_profile)
@click.option("--none", is_flag=True, help="Use no profile by default.")
@connected
def use(session: Session, name: str | None, none: bool) -> None:
    """Make a profile the default for all commands."""
    if (name is None) != none:
        raise click.UsageError("expected the name of a profile, or --none")
    file = _opened()
    if name is not None:
        _check_exists(file, name)
    file.set_default(name)
    file.save()
    session.output.done("there is no default profile now" if none else f"{name}: now the default", {"default": name})
    if os.environ.get("KAFKA_PROFILE"):
        click.echo("the environment variable KAFKA_PROFILE takes precedence over the default", err=True)


@command.command()
@click.argument("name", shell_complete=complete_profile)
@yes_option
@connected
def remove(session: Session, name: str, yes: bool) -> None:
    """Remove a profile with its settings."""
    file = _opened()
    _check_exists(file, name)
    confirm(f"Remove the profile {name} from {file.path}?", yes)
    file.remove(name)
    file.save()
    session.output.done(f"{name}: removed", {"profile": name})


def _opened() -> ProfileFile:
    return ProfileFile(profiles_file())


def _current(file: ProfileFile) -> str | None:
    """Return the name of the profile that commands use by default."""
    return os.environ.get("KAFKA_PROFILE") or file.default


def _check_exists(file: ProfileFile, name: str) -> None:
    """Raise `click.ClickException` if there is no such profile."""
    from kafka.config.option import nearest

    if name not in file.profiles:
        there = ", ".join(sorted(file.profiles)) or "no profiles"
        raise click.ClickException(
            f"there is no profile {name!r}; {file.path} has {there}{nearest(name, file.profiles)}"
        )


def _settings(session: Session) -> dict[str, Setting | None]:
    """Return the settings given as options, as the file stores them."""
    from kafka.cli.client_settings import given_settings

    found: dict[str, Setting | None] = {}
    for name, (text, value) in given_settings(session.options).items():
        found[name] = value if isinstance(value, bool | int | float) else str(text)
    if session.options["config_file"]:
        found["config"] = os.path.abspath(session.options["config_file"])
    return found


def _first(profile: Mapping[str, Any], *names: str) -> Any:
    return next((profile[name] for name in names if name in profile), None)


def _shown(name: str, value: Any) -> Any:
    """Return a value, or a placeholder if it is or may contain a secret."""
    from kafka.config.secrecy import kind_of, shown

    return _HIDDEN if value is not None and shown(name, value) == kind_of(value) else value
