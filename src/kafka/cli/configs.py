"""``kafka configs``: configs of topics, brokers, groups and other resources."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from kafka.cli.common_options import AnyCase, connected
from kafka.cli.session import Session
from kafka.cli.suggestions import CommandGroup, suggesting
from kafka.config.option import nearest

if TYPE_CHECKING:
    from kafka.admin import KafkaAdminClient

_KINDS = ("topic", "broker", "broker-logger", "client-metrics", "group")
_FILTERS = ("all", "modified", "dynamic", "static", "default")
_CHANGE = re.compile(r"(?P<name>[^=+\-]+?)(?P<sign>[+-]?)=(?P<value>.*)", re.DOTALL)
_CALL = re.compile(r"(set|add|sub|del)\((.*)\)", re.DOTALL)
_dry_run_option = click.option(
    "-v", "--dry-run", "--validate-only", is_flag=True, help="Show what would be done without doing it."
)


@click.group(name="configs", cls=CommandGroup, aliases={"set": "alter", "delete": "reset"})
def command() -> None:
    """Describe, change and reset configs of topics, brokers and groups."""


def _of_resources(inner: Callable[..., None]) -> Callable[..., None]:
    """Add arguments for the resource type and name, and kafka-python's options for them."""
    notes = [
        click.argument("given", nargs=-1, metavar="TYPE NAME [CONFIG]..."),
        click.option("-r", "--resource-type", type=AnyCase(_KINDS), help="Same as TYPE."),
        click.option("-n", "--resource-name", "names", multiple=True, metavar="NAME", help="Same as NAME."),
        click.option("-c", "--config-name", "configs", multiple=True, metavar="CONFIG", help="Same as CONFIG."),
    ]
    for note in reversed(notes):
        inner = note(inner)
    return inner


def _resources(
    given: tuple[str, ...], resource_type: str | None, names: tuple[str, ...], configs: tuple[str, ...]
) -> tuple[str, list[str], list[str]]:
    """Return the resource type, names and configs, given as arguments or as options."""
    rest = list(given)
    given_kind = resource_type or (rest.pop(0) if rest else "")
    kind = given_kind.lower().replace("_", "-").removesuffix("s" if given_kind.lower() not in _KINDS else "")
    if kind not in _KINDS:
        raise click.UsageError(
            f"expected a resource type ({', '.join(_KINDS)}), got {given_kind!r}{nearest(given_kind, _KINDS)}"
            + ("" if rest or names else f"; for a topic: topic {given_kind}" if given_kind else "")
        )
    wanted = list(names) or ([rest.pop(0)] if rest else [])
    if not wanted:
        raise click.UsageError(f"expected the name of a {kind}")
    return kind, wanted, [*rest, *configs]


def _names(kind: str, wanted: list[str]) -> tuple[list[str], list[str]]:
    """Return the names that are topics, and those that are groups."""
    return wanted if kind == "topic" else [], wanted if kind == "group" else []


def _resource(kind: str, name: str, configs: Any = None) -> Any:
    from kafka.admin import ConfigResource

    return ConfigResource(kind.upper().replace("-", "_"), name, configs)


def _all_there(admin: "KafkaAdminClient", kind: str, names: list[str], configs: Any) -> list[Any]:
    """Return the resources. Raises `BrokerNotAvailableError` for brokers that are not in the cluster."""
    from kafka.cli.topic_ranges import check_brokers

    resources = [_resource(kind, name, configs) for name in names]
    check_brokers(admin, (each.broker_id for each in resources if each.broker_id is not None))
    return resources


@command.command(name="list")
@click.option(
    "-r",
    "--resource-type",
    "kinds",
    multiple=True,
    type=AnyCase(_KINDS),
    help="List only resources of this type; repeatable.",
)
@connected
def list_resources(session: Session, kinds: tuple[str, ...]) -> None:
    """List resources that have configs (Kafka 4.1)."""
    with session.admin() as admin:
        found = admin.list_config_resources([kind.replace("-", "_") for kind in kinds] or None)
    rows = [{"type": kind, "name": name} for kind, names in found.items() for name in names]
    session.output.table(rows, ["type", "name"])


@command.command()
@_of_resources
@click.option("--filter", "shown", type=click.Choice(_FILTERS), help="Which configs to show. [default: modified]")
@click.option("--all", "shown", flag_value="all", help="Show all configs.")
@click.option("--modified", "shown", flag_value="modified", hidden=True)
@click.option("--dynamic", "shown", flag_value="dynamic", hidden=True)
@click.option("--static", "shown", flag_value="static", hidden=True)
@click.option("--default", "shown", flag_value="default", hidden=True)
@click.option("--documentation", is_flag=True, help="Show the documentation of each config.")
@connected
def describe(
    session: Session,
    given: tuple[str, ...],
    resource_type: str | None,
    names: tuple[str, ...],
    configs: tuple[str, ...],
    shown: str | None,
    documentation: bool,
) -> None:
    """Show configs. Without --all or CONFIG, shows only those that differ from Kafka's defaults."""
    kind, wanted, only = _resources(given, resource_type, names, configs)
    shown = shown or ("all" if only else "modified")
    with session.admin() as admin, suggesting(admin, *_names(kind, wanted)):
        resources = _all_there(admin, kind, wanted, only or None)
        found = admin.describe_configs(resources, config_filter=shown, include_documentation=documentation)
        rows = [
            {
                "type": kind,
                "name": name,
                "config": config,
                "value": None if each["is_sensitive"] else each["value"],
                "source": str(each["config_source"]).lower(),
                "read_only": each["read_only"],
                **({"documentation": each["documentation"]} if documentation else {}),
            }
            for kind, named in found.items()
            for name, entries in named.items()
            for config, each in sorted(entries.items())
        ]
    columns = ["name", "config", "value", "source", *(["documentation"] if documentation else [])]
    session.output.table(rows, columns if len(wanted) > 1 or not session.output.terminal else columns[1:])


@command.command()
@_of_resources
@_dry_run_option
@click.option("--allow-unknown", is_flag=True, help="Do not check first that the configs exist.")
@click.option("--force-incremental/--force-alter", "incremental", default=None, hidden=True)
@connected
def alter(
    session: Session,
    given: tuple[str, ...],
    resource_type: str | None,
    names: tuple[str, ...],
    configs: tuple[str, ...],
    dry_run: bool,
    allow_unknown: bool,
    incremental: bool | None,
) -> None:
    """Set configs. NAME=VALUE sets one; NAME+=VALUE and NAME-=VALUE add to and remove from a list."""
    kind, wanted, changes = _resources(given, resource_type, names, configs)
    if not changes:
        raise click.UsageError("expected at least one change, such as retention.ms=60000")
    parsed = dict(map(_change, changes))
    if incremental is False:
        parsed = _whole(parsed)
    with session.admin() as admin, suggesting(admin, *_names(kind, wanted)):
        result = admin.alter_configs(
            _all_there(admin, kind, wanted, parsed),
            validate_only=dry_run,
            raise_on_unknown=False if allow_unknown else None,
            incremental=incremental,
        )
    _report(session, result, "would be changed" if dry_run else "changed")


@command.command()
@_of_resources
@_dry_run_option
@click.option("--allow-unknown", is_flag=True, help="Do not check first that the configs exist.")
@connected
def reset(
    session: Session,
    given: tuple[str, ...],
    resource_type: str | None,
    names: tuple[str, ...],
    configs: tuple[str, ...],
    dry_run: bool,
    allow_unknown: bool,
) -> None:
    """Reset configs to their defaults."""
    kind, wanted, only = _resources(given, resource_type, names, configs)
    if not only:
        raise click.UsageError("expected the name of at least one config")
    with session.admin() as admin, suggesting(admin, *_names(kind, wanted)):
        result = admin.reset_configs(
            _all_there(admin, kind, wanted, only), validate_only=dry_run, raise_on_unknown=not allow_unknown
        )
    _report(session, result, "would be reset" if dry_run else "reset")


def _whole(changes: dict[str, Any]) -> dict[str, Any]:
    """Return the changes as a complete configuration. Raises `click.UsageError` for changes other than NAME=VALUE."""
    from kafka.admin import AlterConfigOp

    if any(operation != AlterConfigOp.SET for operation, _ in changes.values()):
        raise click.UsageError("--force-alter replaces the whole configuration: only NAME=VALUE is allowed")
    return {name: value for name, (_, value) in changes.items()}


def _change(text: str) -> tuple[str, Any]:
    """Parse a config change into the config's name and the operation."""
    from kafka.admin import AlterConfigOp
    from kafka.config.secrecy import shown_setting

    match = _CHANGE.fullmatch(text)
    if match is None:
        raise click.UsageError(f"expected NAME=VALUE, NAME+=VALUE or NAME-=VALUE, got {shown_setting(text)}")
    operations = {
        "": AlterConfigOp.SET,
        "set": AlterConfigOp.SET,
        "+": AlterConfigOp.APPEND,
        "add": AlterConfigOp.APPEND,
        "-": AlterConfigOp.SUBTRACT,
        "sub": AlterConfigOp.SUBTRACT,
        "del": AlterConfigOp.DELETE,
    }
    name, sign, value = match["name"].strip(), match["sign"], match["value"]
    if call := _CALL.fullmatch(value):  # the syntax of kafka-python's command line
        sign, value = call[1], call[2]
    return name, (operations[sign], None if sign == "del" else value)


def _report(session: Session, result: Any, done: str) -> None:
    rows = [
        {"type": kind, "name": name, "result": done if told == "OK" else told}
        for kind, named in result.items()
        for name, told in named.items()
    ]
    if session.output.as_json:
        session.output.data(rows)
    else:
        for row in rows:
            click.echo(f"{row['type']} {row['name']}: {row['result']}")
