"""Releases of Apache Kafka: what order they are in, and a broker or a cluster of any of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

from harness.apache import ApacheKafka
from harness.fetch import release_numbers
from harness.zookeeper_kafka import ZooKeeperKafka

FIRST_WITHOUT_ZOOKEEPER = (3, 9)
"""From here on the tests run KRaft; of the releases between 2.8 and this one they run none."""

Kafka = ApacheKafka | ZooKeeperKafka


def kafka_of(
    version: str,
    folder: Path | None = None,
    *,
    nodes: int = 1,
    properties: Mapping[str, str] | None = None,
    features: Mapping[str, int] | None = None,
) -> Kafka:
    """A cluster of a release, not started yet.

    Arguments:
        folder: where it keeps everything; a temporary one, removed at the end, if not given.
        nodes: how many brokers.
        properties: added to each server.properties.
        features: levels of features; releases before KRaft have none, and are given none.
    """
    if release_numbers(version) >= FIRST_WITHOUT_ZOOKEEPER:
        return ApacheKafka(folder, version=version, nodes=nodes, properties=properties, features=features)
    return ZooKeeperKafka(version, folder, nodes=nodes, properties=properties)


def authorizer_class(version: str) -> str:
    """The authorizer that a release ships, for `authorizer.class.name`."""
    release = release_numbers(version)
    if release >= FIRST_WITHOUT_ZOOKEEPER:
        return "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
    return "kafka.security.authorizer.AclAuthorizer" if release >= (2, 4) else "kafka.security.auth.SimpleAclAuthorizer"


def missing_in(release: str, markers: Iterable[pytest.Mark]) -> Iterator[str]:
    """Why a release cannot run a test: what its marks `needs` ask for, from which release on or before which."""
    numbers = release_numbers(release)
    for marker in markers:
        since, before, why = (marker.kwargs.get(name) for name in ("broker", "before", "why"))
        if since is not None and numbers < since:
            yield f"needs Kafka {'.'.join(map(str, since))}: {why}"
        if before is not None and numbers >= before:
            yield f"needs Kafka before {'.'.join(map(str, before))}: {why}"
