"""``kafka ui``: a web UI for the cluster."""

import dataclasses
import pathlib
import re
from typing import Any

import click

from kafka.cli.command_output import note
from kafka.cli.common_options import connected, count_option, host_option, port_option
from kafka.cli.registry_options import with_registry_if_given
from kafka.cli.session import Session


@click.command(name="ui")
@port_option(8085)
@host_option("On any other than a loopback address, others can see all records; there is no login.")
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
@click.option("--allow-writes", is_flag=True, help="Allow creating topics and resetting groups.")
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
    host: str,
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

    It changes nothing unless --allow-writes is given, and only this machine can reach it unless --host is given.
    Requires the extra "ui".
    """
    from kafka.cli.position_syntax import parse_position
    from kafka.ui.shared_state import UiSettings
    from kafka.ui.web_server import is_loopback, run

    first = UiSettings(
        admin=session.configs("admin"),
        consumer=session.configs("consumer"),
        parse_position=parse_position,
        registry=registry,
        spark=spark,
        pipelines=pipelines,
        profile=_names_in_urls(session.profile, others)[0],
        allow_writes=allow_writes,
        names=(*names, host),
        interval_s=interval,
        search_s=search_seconds,
        search_records=search_records,
    )
    settings = [first]
    for other in map(session.of_profile, others):
        admin, consumer = other.configs("admin"), other.configs("consumer")
        own = dataclasses.replace(first, admin=admin, consumer=consumer, profile=other.profile)
        settings.append(dataclasses.replace(own, registry=None, spark=None, pipelines=()))
    if not is_loopback(host):
        may = " and change topics and groups" if allow_writes else ""
        note(f"Warning: anyone who can reach {host} can see all records of this cluster{may}; there is no login.")
    run(settings, host, port, lambda address: note(f"Web UI at {address} (stop it with Ctrl-C)."))


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
