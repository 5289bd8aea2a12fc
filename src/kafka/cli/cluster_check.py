"""Checks the connection to a cluster: every address, one after the other."""

import asyncio
import datetime
import ssl
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from kafka._addresses import format_address
from kafka._loop_services import run_on_new_loop
from kafka.config.table import AdminConfig, parse_admin
from kafka.errors import KafkaConnectionError, KafkaError
from kafka.net import Connection, open_connection
from kafka.wire.api.metadata import MetadataRequest

if TYPE_CHECKING:
    from kafka.admin import KafkaAdminClient
    from kafka.wire.api.metadata import MetadataResponse

_FETCH = 1
_SINCE = {
    4: "0.11",
    6: "1.0",
    7: "1.1",
    8: "2.0",
    10: "2.1",
    11: "2.3",
    12: "2.7",
    13: "3.1",
    15: "3.5",
    16: "3.7",
    17: "3.9",
}
"""The Kafka release that introduced each Fetch version, as brokers do not report their release."""
_SOON = datetime.timedelta(days=14)
_AHEAD_S = 60
_TOPICS = 50
"""Maximum number of topics whose newest record is looked up."""


def check(configs: Mapping[str, Any]) -> dict[str, Any]:
    """Check the bootstrap servers, the brokers at their advertised addresses, partitions and clocks.

    Arguments:
        configs: keyword arguments of an admin client.

    Returns a dict with rows for addresses, ``notes``, and ``problems`` with advice. Raises `KafkaConfigurationError`.
    """
    parsed = parse_admin(configs)
    given = list(parsed.connection.bootstrap_servers)
    answers = run_on_new_loop(_addresses(parsed, given))
    bootstrap = [row for row, _ in answers]
    found: dict[str, Any] = {"bootstrap": bootstrap, "brokers": [], "notes": [], "problems": []}
    found["problems"] += [f"{row['address']}: {row['result']}" for row in bootstrap if not row["reached"]]
    if any(row["reached"] for row in bootstrap):
        _look_at_brokers(found, next(told for _, told in answers if told is not None), parsed)
        _look_inside(found, configs)
    else:
        found["problems"].append(
            "none of the addresses works: is the cluster up and the port open, and are the protocol and credentials "
            "right?"
        )
    _certificates(found)
    return found


def _look_at_brokers(found: dict[str, Any], told: "MetadataResponse", parsed: AdminConfig) -> None:
    """Check each broker at its advertised address."""
    found["cluster_id"] = told.cluster_id
    found["controller"] = told.controller_id
    answers = run_on_new_loop(_addresses(parsed, [(each.host, each.port) for each in told.brokers]))
    for (row, _), broker in zip(answers, told.brokers, strict=True):
        found["brokers"].append({"broker": broker.node_id, "rack": broker.rack, **row})
    reached = {row["address"] for row in found["bootstrap"] if row["reached"]}
    for row in found["brokers"]:
        if not row["reached"]:
            found["problems"].append(
                f"broker {row['broker']} advertises {row['address']}, which fails: {row['result']}; set its "
                "advertised.listeners to an address that is reachable from here, such as "
                f"{', '.join(sorted(reached))}"
            )
    if len({row["release"] for row in found["brokers"] if row["reached"]}) > 1:
        found["notes"].append("brokers run different releases: only features that all of them support can be used")


def _look_inside(found: dict[str, Any], configs: Mapping[str, Any]) -> None:
    """Check partitions and record timestamps, if a broker is reachable."""
    from kafka.admin import KafkaAdminClient

    if not any(row["reached"] for row in found["brokers"]):
        found["notes"].append(
            "partitions and clocks were not checked: no broker is reachable at its advertised address"
        )
        return
    try:
        with KafkaAdminClient(**configs) as admin:
            _leaders(admin, found)
            _clock(admin, found)
    except KafkaError as error:
        found["problems"].append(f"the cluster answers, but cannot be inspected: {error}")


async def _addresses(
    parsed: AdminConfig, addresses: Iterable[tuple[str, int]]
) -> "list[tuple[dict[str, Any], MetadataResponse | None]]":
    return await asyncio.gather(*(_address(parsed, host, port) for host, port in addresses))


async def _address(parsed: AdminConfig, host: str, port: int) -> "tuple[dict[str, Any], MetadataResponse | None]":
    """Check an address: name resolution, TCP, TLS, login and versions. Return its row, and the metadata received."""
    row: dict[str, Any] = {
        "address": format_address(host, port),
        "reached": False,
        "result": "",
        "ms": None,
        "release": None,
    }
    row["tls"] = None
    began = time.perf_counter()
    try:
        connection = await open_connection(host, port, parsed.connection, parsed.security)
    except (KafkaError, OSError) as error:
        row["result"] = str(error)
        return row, None
    try:
        row |= {"result": "ok", "ms": round((time.perf_counter() - began) * 1000, 1)}
        row["release"] = _release(connection)
        row["tls"] = _tls(connection.tls)
        told = await connection.send(MetadataRequest(topics=[]))
        row["reached"] = True
        return row, told
    except KafkaError as error:
        row["result"] = f"connected, but the metadata request failed: {error}"
        if isinstance(error, KafkaConnectionError) and not parsed.security.uses_sasl:
            protocol = parsed.security.security_protocol
            row["result"] += f"; a listener that requires SASL fails the same way (security_protocol is {protocol!r})"
        return row, None
    finally:
        await connection.close()


def _release(connection: Connection) -> str:
    versions = connection.api_versions.range(_FETCH)
    known = [since for version, since in _SINCE.items() if versions is not None and version <= versions[1]]
    return f"{known[-1]} or later" if known else "before 0.11"


def _tls(made: ssl.SSLObject | None) -> dict[str, Any] | None:
    """Return the TLS version and the certificate, if it was verified."""
    if made is None:
        return None
    certificate: Any = made.getpeercert() or {}
    names = [value for _, value in certificate.get("subjectAltName", ())]
    ends = certificate.get("notAfter")
    cipher = made.cipher()
    return {
        "version": made.version(),
        "cipher": cipher[0] if cipher else None,
        "names": " ".join(map(str, names)),
        "until": None if ends is None else _day(str(ends)).isoformat(),
    }


def _day(text: str) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(ssl.cert_time_to_seconds(text), datetime.UTC)


def _certificates(found: dict[str, Any]) -> None:
    """Report certificates that expire soon."""
    for row in (*found["bootstrap"], *found["brokers"]):
        if row["tls"] and row["tls"]["until"]:
            ends = datetime.datetime.fromisoformat(row["tls"]["until"])
            if ends - datetime.datetime.now(datetime.UTC) < _SOON:
                found["notes"].append(f"the certificate of {row['address']} expires on {ends:%Y-%m-%d %H:%M} UTC")


def _leaders(admin: "KafkaAdminClient", found: dict[str, Any]) -> None:
    """Report partitions that have no leader or have lost replicas."""
    topics = admin.describe_topics()
    parts = [(topic["name"], part) for topic in topics for part in topic["partitions"]]
    without = [f"{name}:{part['partition_index']}" for name, part in parts if part["leader_id"] < 0]
    behind = [
        f"{name}:{part['partition_index']}"
        for name, part in parts
        if len(part["isr_nodes"]) < len(part["replica_nodes"])
    ]
    found["topics"], found["partitions"] = len(topics), len(parts)
    if without:
        found["problems"].append(f"{len(without)} partitions have no leader: {_some(without)}; are brokers down?")
    if behind:
        found["notes"].append(f"{len(behind)} partitions are under-replicated: {_some(behind)}")


def _some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _clock(admin: "KafkaAdminClient", found: dict[str, Any]) -> None:
    """Report records with timestamps in the future. The newest record's timestamp stands in for the brokers' clocks."""
    from kafka.admin import OffsetSpec
    from kafka.structs import TopicPartition

    topics = [each for each in admin.describe_topics() if not each["is_internal"]][:_TOPICS]
    wanted = [TopicPartition(each["name"], part["partition_index"]) for each in topics for part in each["partitions"]]
    if not wanted:
        return
    try:
        specs = dict.fromkeys(wanted, OffsetSpec.MAX_TIMESTAMP)
        newest: dict[TopicPartition, Any] = {**admin.list_partition_offsets(specs, raise_errors=False)}
    except KafkaError as error:
        found["notes"].append(f"clocks were not compared: {error}")
        return
    times = {tp: each.timestamp for tp, each in newest.items() if not isinstance(each, Exception)}
    latest = max(times, key=lambda tp: times[tp], default=None)
    if latest is None or times[latest] <= 0:
        return
    ahead = times[latest] / 1000 - time.time()
    found["newest_record"] = datetime.datetime.fromtimestamp(times[latest] / 1000, datetime.UTC).isoformat()
    if ahead > _AHEAD_S:
        found["problems"].append(
            f"the newest record of {latest.topic}:{latest.partition} is {datetime.timedelta(seconds=round(ahead))} in "
            "the future: this machine's clock is behind, or a producer's is ahead"
        )
