"""``kafka ui``: a page about the cluster, for a browser."""

import pathlib
from typing import Any

import click

from kafka.cli.options import connected
from kafka.cli.output import note
from kafka.cli.registry_options import with_registry_if_given
from kafka.cli.session import Session


@click.command(name="ui")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8085, show_default=True, help="Port; 0 takes a free one."
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on. Any but one of this machine alone lets others see all records; there is no login.",
)
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="NAME",
    help="A host name by which browsers ask for the page, beside addresses and localhost; may be repeated.",
)
@click.option(
    "--spark",
    type=click.Path(dir_okay=False, path_type=pathlib.Path),
    metavar="PATH",
    help="The file that kafka.spark.watch writes as json_lines: shows Spark's queries.",
)
@click.option("--allow-writes", is_flag=True, help="Let the page create topics and move groups.")
@click.option(
    "--interval",
    type=click.FloatRange(0.5, 3600),
    default=5.0,
    show_default=True,
    metavar="SECONDS",
    help="Between two looks at the cluster, while somebody looks at the page.",
)
@click.option(
    "--search-seconds",
    type=click.FloatRange(0.1, 3600),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="How long a search may take.",
)
@click.option(
    "--search-records",
    type=click.IntRange(1),
    default=200_000,
    show_default=True,
    metavar="NUMBER",
    help="How many records a search may look at.",
)
@with_registry_if_given
@connected
def command(
    session: Session,
    port: int,
    host: str,
    names: tuple[str, ...],
    spark: pathlib.Path | None,
    allow_writes: bool,
    interval: float,
    search_seconds: float,
    search_records: int,
    registry: dict[str, Any] | None,
) -> None:
    """Show topics, groups, messages, schemas and Spark queries in a browser, until it is interrupted.

    The page changes nothing unless --allow-writes is given, and only this machine sees it unless --host is. It needs
    the extra "ui".
    """
    from kafka.cli.positions import parse_position
    from kafka.ui.server import is_loopback, run
    from kafka.ui.settings import UiSettings

    settings = UiSettings(
        admin=session.configs("admin"),
        consumer=session.configs("consumer"),
        parse_position=parse_position,
        registry=registry,
        spark=spark,
        allow_writes=allow_writes,
        names=(*names, host),
        interval_s=interval,
        search_s=search_seconds,
        search_records=search_records,
    )
    if not is_loopback(host):
        may = " and may change topics and groups" if allow_writes else ""
        note(f"Warning: whoever reaches {host} sees all records of this cluster{may}; there is no login.")
    run(settings, host, port, lambda address: note(f"The page is at {address} (Ctrl-C ends it)."))
