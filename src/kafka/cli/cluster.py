"""``kafka cluster``: brokers, features, API versions, log directories and the metadata quorum."""

from typing import Any

import click

from kafka.cli.common_options import at_least_one, connected, dry_run_option, pairs, without_effect
from kafka.cli.session import Session
from kafka.cli.suggestions import CommandGroup

_ALIASES = {
    "features": "describe-features",
    "quorum": "describe-quorum",
    "versions": "api-versions",
    "describe-log-dirs": "log-dirs",
}


@click.group(name="cluster", cls=CommandGroup, aliases=_ALIASES)
def command() -> None:
    """Describe the cluster and its brokers."""


@command.command()
@connected
def describe(session: Session) -> None:
    """Show the brokers and the current controller."""
    with session.admin() as admin:
        told = admin.describe_cluster()
    rows = [
        {
            "broker": each["node_id"],
            "host": each["host"],
            "port": each["port"],
            "rack": each["rack"],
            "controller": each["node_id"] == told["controller_id"],
        }
        for each in sorted(told["brokers"], key=lambda each: each["node_id"])
    ]
    if session.output.as_json:
        session.output.data({"cluster_id": told["cluster_id"], "controller": told["controller_id"], "brokers": rows})
        return
    session.output.title(f"cluster {told['cluster_id']}")
    session.output.table(rows, ["broker", "host", "port", "rack", "controller"])


@command.command(name="describe-features")
@click.option("-f", "--feature", "features", multiple=True, metavar="NAME", help="Show only this feature; repeatable.")
@connected
def describe_features(session: Session, features: tuple[str, ...]) -> None:
    """Show feature levels, such as metadata.version (Kafka 2.7)."""
    with session.admin() as admin:
        found = admin.describe_features()
    rows = [
        {
            "feature": name,
            "level": (each.get("finalized") or (None, None))[1],
            "supported": _range(each.get("supported")),
        }
        for name, each in sorted(found.items())
        if not features or name in features
    ]
    session.output.table(rows, ["feature", "level", "supported"])


@command.command(name="update-features")
@click.argument("levels", nargs=-1, metavar="NAME=LEVEL...")
@click.option("-f", "--feature", "more", multiple=True, metavar="NAME=LEVEL", help="Same as NAME=LEVEL.")
@click.option("--timeout", "timeout_s", type=int, hidden=True)
@click.option("--downgrade", is_flag=True, help="Allow downgrades.")
@click.option("--unsafe", is_flag=True, help="Allow downgrades that may lose metadata.")
@dry_run_option
@connected
def update_features(
    session: Session,
    levels: tuple[str, ...],
    more: tuple[str, ...],
    timeout_s: int | None,
    downgrade: bool,
    unsafe: bool,
    dry_run: bool,
) -> None:
    """Change feature levels (Kafka 3.3)."""
    from kafka.admin import UpdateFeatureType

    way = UpdateFeatureType.UPGRADE
    if downgrade or unsafe:
        way = UpdateFeatureType.UNSAFE_DOWNGRADE if unsafe else UpdateFeatureType.SAFE_DOWNGRADE
    updates: dict[str, Any] = {}
    for name, level in pairs(tuple(at_least_one("NAME=LEVEL", [*levels, *more]))).items():
        if not level.isdecimal():
            raise click.UsageError(f"expected a number as the level of {name}, got {level!r}")
        updates[name] = (way, int(level))
    with session.admin() as admin:
        limit_ms = 60_000 if timeout_s is None else timeout_s * 1000
        result = admin.update_features(updates, validate_only=dry_run, timeout_ms=limit_ms)
    session.output.table([{"feature": name, "result": told} for name, told in result.items()], ["feature", "result"])


@command.command(name="describe-quorum")
@connected
def describe_quorum(session: Session) -> None:
    """Show the voters and observers of the metadata quorum and their lag (Kafka 3.3)."""
    with session.admin() as admin:
        told = admin.describe_metadata_quorum()
    if session.output.as_json:
        session.output.data(told)
        return
    parts = [part for topic in told["topics"] for part in topic["partitions"]]
    rows = [
        {
            "replica": each["replica_id"],
            "role": "leader" if each["replica_id"] == part["leader_id"] else role,
            "log_end_offset": each["log_end_offset"],
            "lag": max(0, part["high_watermark"] - each["log_end_offset"]),
        }
        for part in parts
        for role, replicas in (("voter", part["current_voters"]), ("observer", part["observers"]))
        for each in replicas
    ]
    session.output.table(rows, ["replica", "role", "log_end_offset", "lag"])


@command.command(name="api-versions")
@click.option("--broker", type=int, metavar="ID", help="Broker to ask. [default: any]")
@click.option("-k", "--api-key", "keys", multiple=True, metavar="NAME", help="Show only this API; repeatable.")
@without_effect("--raw", is_flag=True)
@connected
def api_versions(session: Session, broker: int | None, keys: tuple[str, ...]) -> None:
    """Show the API versions that a broker supports."""
    from kafka.cli.topic_ranges import check_brokers
    from kafka.wire.index import API_NAMES

    with session.admin() as admin:
        found: dict[Any, tuple[int, int]]
        if broker is None:
            found = dict(admin.api_versions())
        else:
            check_brokers(admin, [broker])
            found = dict(admin.get_broker_version_data(broker).api_versions)
    rows = [
        {"key": int(key), "api": API_NAMES.get(int(key)), "lowest": low, "highest": high}
        for key, (low, high) in sorted(found.items())
        if not keys or {str(int(key)), API_NAMES.get(int(key))} & set(keys)
    ]
    session.output.table(rows, ["key", "api", "lowest", "highest"])


@command.command(name="log-dirs")
@click.option("--broker", "brokers", type=int, multiple=True, metavar="ID", help="Show only this broker; repeatable.")
@click.option("-t", "--topic", "topics", multiple=True, metavar="TOPIC", help="Show only this topic; repeatable.")
@connected
def log_dirs(session: Session, brokers: tuple[int, ...], topics: tuple[str, ...]) -> None:
    """Show the log directories of replicas and the replicas' sizes."""
    from kafka.cli.topic_ranges import check_brokers

    with session.admin() as admin:
        check_brokers(admin, brokers)
        found = admin.describe_log_dirs(topics or None, brokers or None)
    rows = [
        {
            "broker": broker["broker"],
            "folder": folder["log_dir"],
            "topic": topic["name"],
            "partition": part["partition_index"],
            "bytes": part["partition_size"],
            "lag": part["offset_lag"],
        }
        for broker in found
        for folder in broker["log_dirs"]
        for topic in folder["topics"]
        for part in topic["partitions"]
    ]
    session.output.table(rows, ["broker", "folder", "topic", "partition", "bytes", "lag"])


def _range(given: Any) -> str | None:
    return None if given is None else f"{given[0]}-{given[1]}"
