"""The options of ``kafka ui`` for access: the address, logins, TLS, and the audit log.

`with_access` adds the options; the command gets the address, the port and an `AccessSettings`. What the settings mean
is described in `kafka.ui.access.settings`.
"""

from __future__ import annotations

import functools
import os
import pathlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

import click

from kafka._addresses import AddressError, split_address
from kafka.cli.command_output import note

if TYPE_CHECKING:
    from kafka.ui.access.oidc_rules import OidcSettings
    from kafka.ui.access.settings import AccessSettings

R = TypeVar("R")
_FILE = click.Path(exists=True, dir_okay=False, path_type=pathlib.Path)

_OPTIONS = (
    click.option(
        "--listen",
        metavar="ADDRESS[:PORT]",
        default="127.0.0.1",
        show_default=True,
        help="Address to listen on. Any other than a loopback address requires a login.",
    ),
    click.option(
        "--token",
        "has_token",
        is_flag=True,
        help="Login: one token, from KAFKA_UI_TOKEN, or a new one that is printed.",
    ),
    click.option(
        "--users",
        type=click.Path(dir_okay=False, path_type=pathlib.Path),
        metavar="FILE",
        help="Login: a file of users with hashed passwords or tokens.",
    ),
    click.option(
        "--add-user",
        metavar="NAME:ROLE",
        help="Ask for a password, write the user to the file of --users, and exit. Roles: viewer, operator.",
    ),
    click.option(
        "--add-token",
        metavar="NAME:ROLE",
        help="Write a user with a new token to the file of --users, print the token, and exit.",
    ),
    click.option("--oidc", metavar="URL", help="Login: an OpenID Connect provider, by its issuer or discovery URL."),
    click.option("--oidc-client", metavar="ID", help="Client id at the provider; its secret is KAFKA_UI_OIDC_SECRET."),
    click.option(
        "--oidc-viewers",
        multiple=True,
        metavar="CLAIM=VALUE",
        help="Users of the provider who may view, such as groups=staff; * for all; repeatable.",
    ),
    click.option(
        "--oidc-operators",
        multiple=True,
        metavar="CLAIM=VALUE",
        help="Users of the provider who may also write; repeatable.",
    ),
    click.option(
        "--oidc-scope",
        metavar="SCOPES",
        default="openid profile email",
        show_default=True,
        help="Scopes to request from the provider.",
    ),
    click.option("--tls-cert", type=_FILE, metavar="FILE", help="Certificate and its chain (PEM), for https."),
    click.option("--tls-key", type=_FILE, metavar="FILE", help="The certificate's key (PEM)."),
    click.option("--public-url", metavar="URL", help="URL under which browsers reach the UI, if a proxy is in front."),
    click.option(
        "--proxy", metavar="ADDRESSES", help="Proxies whose X-Forwarded-For header is trusted, separated by commas."
    ),
    click.option(
        "--session-hours",
        type=click.FloatRange(0.1, 24 * 30),
        metavar="HOURS",
        default=12.0,
        show_default=True,
        help="Hours until users have to log in again.",
    ),
    click.option(
        "--audit-log",
        type=click.Path(dir_okay=False, path_type=pathlib.Path),
        metavar="FILE",
        help="File for the audit log of writes and logins. [default: standard error]",
    ),
)


class Listening(NamedTuple):
    """Where to listen, and who may connect."""

    host: str
    port: int | None
    access: AccessSettings


def with_access(command: Callable[..., R]) -> Callable[..., R]:
    """Add the options; the command gets a `Listening` as ``listening``.

    With --add-user or --add-token, the command is not run.
    """

    @functools.wraps(command)
    def run(
        *args: Any, users: pathlib.Path | None, add_user: str | None, add_token: str | None, listen: str, **given: Any
    ) -> R:
        own = {name: given.pop(name) for name in list(given) if name in _NAMES}
        if add_user is not None or add_token is not None:
            _add(users, add_user, add_token)
            click.get_current_context().exit()
        try:
            host, port = split_address(listen)
        except AddressError as error:
            raise click.UsageError(f"--listen {listen!r:.100}: expected {error}") from None
        access = _settings(users, bool(given.get("allow_writes")), **own)
        return command(*args, listening=Listening(host, port, access), **given)

    noted: Callable[..., R] = run
    for option in reversed(_OPTIONS):
        noted = option(noted)
    return noted


_NAMES = (
    *("has_token", "oidc", "oidc_client", "oidc_viewers", "oidc_operators", "oidc_scope", "tls_cert", "tls_key"),
    *("public_url", "proxy", "session_hours", "audit_log"),
)


def _add(users: pathlib.Path | None, user: str | None, token: str | None) -> None:
    from kafka.ui.access.users_file import add

    if users is None:
        raise click.UsageError("--add-user and --add-token require --users FILE")
    try:
        for given in filter(None, (user,)):
            add(users, given, click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))
        for given in filter(None, (token,)):
            click.echo(add(users, given, None))
    except (ValueError, OSError) as error:
        raise click.UsageError(str(error)) from None
    note(f"{user or token} was written to {users}. A running kafka ui notices the change.")


def _settings(
    users: pathlib.Path | None,
    writes: bool,
    *,
    has_token: bool,
    tls_cert: pathlib.Path | None,
    tls_key: pathlib.Path | None,
    public_url: str | None,
    proxy: str | None,
    session_hours: float,
    audit_log: pathlib.Path | None,
    **oidc: Any,
) -> AccessSettings:
    """Check the options. Raises `click.UsageError`."""
    from kafka.ui.access.one_token import OneToken
    from kafka.ui.access.settings import AccessSettings
    from kafka.ui.access.user import Role
    from kafka.ui.access.users_file import UsersFile

    role = Role.OPERATOR if writes else Role.VIEWER
    _check_tls(tls_cert, tls_key)
    if public_url is not None and urlsplit(public_url).scheme not in ("http", "https"):
        raise click.UsageError(f"--public-url: expected a URL with http:// or https://, got {public_url!r:.100}")
    try:
        return AccessSettings(
            token=OneToken(os.environ.get("KAFKA_UI_TOKEN", ""), role) if has_token else None,
            users=UsersFile(users) if users is not None else None,
            oidc=_oidc(**oidc),
            session_s=session_hours * 3600,
            public_url=(public_url or "").rstrip("/"),
            tls_cert=tls_cert,
            tls_key=tls_key,
            proxy=proxy or "",
            audit_log=audit_log,
        )
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _check_tls(cert: pathlib.Path | None, key: pathlib.Path | None) -> None:
    if (cert is None) != (key is None):
        raise click.UsageError("--tls-cert and --tls-key require each other")
    if cert is None or key is None:
        return
    import ssl  # imports slowly

    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(cert, key, password=_no_password)
    except (OSError, ValueError) as error:  # SSLError is an OSError
        raise click.UsageError(f"cannot use --tls-cert {cert} with --tls-key {key}: {error}") from None


def _no_password() -> str:
    raise ValueError("the key is encrypted, which is not supported")


def _oidc(
    oidc: str | None,
    oidc_client: str | None,
    oidc_viewers: tuple[str, ...],
    oidc_operators: tuple[str, ...],
    oidc_scope: str,
) -> OidcSettings | None:
    """Return the provider; None if there is none. Raises `ValueError`."""
    if oidc is None:
        if oidc_client or oidc_viewers or oidc_operators:
            raise ValueError("--oidc-client, --oidc-viewers and --oidc-operators require --oidc URL")
        return None
    from kafka.ui.access.oidc_rules import OidcSettings, parse_rule

    if not oidc_client:
        raise ValueError("--oidc requires --oidc-client ID")
    if not oidc_viewers and not oidc_operators:
        raise ValueError(
            "--oidc requires --oidc-viewers or --oidc-operators, such as groups=staff; --oidc-viewers '*' admits "
            "everyone who has an account at the provider"
        )
    settings = OidcSettings(
        url=oidc,
        client_id=oidc_client,
        client_secret=os.environ.get("KAFKA_UI_OIDC_SECRET", ""),
        viewers=tuple(map(parse_rule, oidc_viewers)),
        operators=tuple(map(parse_rule, oidc_operators)),
        scope=oidc_scope,
    )
    assert settings.discovery_url  # raises if the URL is invalid
    return settings
