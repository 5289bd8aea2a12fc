"""``kafka ui``: a web UI for the cluster."""

import dataclasses
import logging
import pathlib
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from kafka.cli.command_output import note
from kafka.cli.common_options import connected, count_option, log_from, port_option, port_problem
from kafka.cli.registry_options import with_registry_if_given
from kafka.cli.session import Session
from kafka.cli.ui_access import Listening, with_access
from kafka.errors import KafkaError, error_text

if TYPE_CHECKING:
    from kafka.ui.shared_state import UiSettings


@click.command(name="ui")
@port_option(8085)
@with_access
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="NAME",
    help="Host name that browsers may use, in addition to addresses and localhost; repeatable.",
)
@click.option(
    "--with-profile",
    "others",
    multiple=True,
    metavar="NAME",
    help="Profile of another cluster to show; repeatable. The page's header switches between the clusters.",
)
@click.option(
    "--spark",
    type=click.Path(dir_okay=False, path_type=pathlib.Path),
    metavar="PATH",
    help="File that kafka.spark.watch writes as json_lines; shows Spark queries.",
)
@click.option(
    "--pipelines",
    type=click.Path(exists=True, file_okay=False, path_type=pathlib.Path),
    multiple=True,
    metavar="DIRECTORY",
    help="Directory of a pipeline, or of a project with pipelines, to show; repeatable.",
)
@click.option(
    "--allow-writes", is_flag=True, help="Allow operators to produce messages, create topics and reset groups."
)
@click.option(
    "--interval",
    type=click.FloatRange(0.5, 3600),
    metavar="SECONDS",
    default=5.0,
    show_default=True,
    help="Seconds between reads of the cluster's state while a page is open.",
)
@click.option(
    "--search-seconds",
    type=click.FloatRange(0.1, 3600),
    metavar="SECONDS",
    default=10.0,
    show_default=True,
    help="Maximum duration of a search, in seconds.",
)
@count_option("--search-records", default=200_000, help="Maximum number of records that a search reads.")
@with_registry_if_given
@connected
def command(
    session: Session,
    port: int,
    listening: Listening,
    names: tuple[str, ...],
    others: tuple[str, ...],
    spark: pathlib.Path | None,
    pipelines: tuple[pathlib.Path, ...],
    allow_writes: bool,
    interval: float,
    search_seconds: float,
    search_records: int,
    registry: dict[str, Any] | None,
) -> None:
    """Serve a web UI for topics, groups, messages, schemas, Spark queries and pipelines until interrupted.

    It changes nothing unless --allow-writes is given. Only this machine can reach it unless --listen is given, which
    requires a login: --token, --users or --oidc. Requires the extra "ui"; --oidc requires the extra "ui-oidc".
    """
    from kafka.cli.position_syntax import parse_position
    from kafka.ui.shared_state import UiSettings
    from kafka.ui.web_server import is_loopback, run

    if logging.getLogger().level == logging.WARNING:  # the UI reports that itself
        log_from(click.get_current_context(), "kafka.cluster.metadata_updater", "ERROR")
    host, access = listening.host, listening.access
    is_local = is_loopback(host)
    if not is_local and not access.has_login:
        raise click.UsageError(
            f"--listen {host} lets other machines connect, so it requires a login: add --token, --users FILE or "
            "--oidc URL"
        )
    first = UiSettings(
        admin=session.configs("admin"),
        consumer=session.configs("consumer"),
        producer=session.configs("producer"),
        parse_position=parse_position,
        registry=registry,
        spark=spark,
        pipelines=pipelines,
        profile=_names_in_urls(session.profile, others)[0],
        allow_writes=allow_writes,
        names=tuple(filter(None, (*names, host, urlsplit(access.public_url).hostname))),
        interval_s=interval,
        search_s=search_seconds,
        search_records=search_records,
        access=access,
    )
    settings = [first]
    for other in map(session.of_profile, others):
        admin, consumer = other.configs("admin"), other.configs("consumer")
        own = dataclasses.replace(first, admin=admin, consumer=consumer, profile=other.profile)
        own = dataclasses.replace(own, producer=other.configs("producer"))
        settings.append(dataclasses.replace(own, registry=None, spark=None, pipelines=()))
    if not is_local and not access.is_secure:
        note(
            f"Warning: without --tls-cert and --tls-key, anyone on the network of {host} can read passwords and "
            "records in transit."
        )
    if access.token is not None and access.token.is_new:
        note(f"Token for logging in: {access.token.token}")
    chosen = port if listening.port is None else listening.port
    try:
        run(
            settings,
            host,
            chosen,
            lambda address: note(f"Web UI at {address} (stop it with Ctrl-C)."),
            _warn_unreachable,
        )
    except OSError as error:
        if (problem := port_problem(error, chosen)) is None:
            raise
        raise click.ClickException(problem) from error


def _warn_unreachable(settings: "UiSettings", error: KafkaError) -> None:
    cluster = f"the cluster of profile {settings.profile}" if settings.profile else "the cluster"
    note(f"Warning: {cluster} is unreachable, and is shown as soon as it answers: {error_text(error)}")


def _names_in_urls(first: str, others: tuple[str, ...]) -> list[str]:
    """Return the names of the clusters, which are parts of URLs if there are several clusters."""
    if not others:
        return [first]
    names = [first or "default", *others]
    for name in names:
        if re.fullmatch(r"[\w.-]*\w[\w.-]*", name) is None:
            allowed = "letters, digits, '_', '-' and '.'"
            raise click.UsageError(f"with --with-profile, the names of profiles must consist of {allowed}: {name!r}")
        if names.count(name) > 1:
            raise click.UsageError(f"with --with-profile, expected different profiles, got {name!r} twice")
    return names
