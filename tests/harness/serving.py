"""Waiting until a broker serves what it has announced: programs of old clients do not try again."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from typing import Any

from harness.topics import TIMEOUT_S, Wire, create_topic
from kafka.wire import message_class

LIST_OFFSETS_VERSION = 1
LATEST = -1
GROUPS = tuple(f"harness-{number}" for number in range(8))
"""Names that fall on all partitions of the small topics of offsets of `harness.properties`."""
PAUSE_S = 0.02


class TodaysBroker:
    """A broker that creates topics by request, and serves groups; one alone in its cluster.

    Arguments:
        bootstrap_servers: `host:port`.
    """

    def __init__(self, bootstrap_servers: str) -> None:
        self.bootstrap_servers = bootstrap_servers
        await_coordinators(bootstrap_servers, time.monotonic() + TIMEOUT_S)

    def create_topic(self, name: str, partitions: int = 1) -> None:
        """Create a topic and return when the broker serves each of its partitions."""
        create_topic(self.bootstrap_servers, name, partitions)
        await_served(self.bootstrap_servers, name, partitions, time.monotonic() + TIMEOUT_S)


def await_brokers(bootstrap_servers: str, deadline: float) -> None:
    """Wait until each broker knows all of them: what it creates before, old releases give fewer copies.

    Raises:
        RuntimeError: one did not in time.
    """
    request_class, _ = _message("MetadataRequest")
    addresses = bootstrap_servers.split(",")
    for address in addresses:
        with Wire(address) as wire:
            while (known := len(wire.ask(request_class(topics=[]), 0).brokers)) < len(addresses):
                if time.monotonic() > deadline:
                    raise RuntimeError(f"{address} knows {known} of {len(addresses)} brokers")
                time.sleep(PAUSE_S)


def await_served(
    address: str, topic: str, partitions: int, deadline: float, list_offsets_version: int = LIST_OFFSETS_VERSION
) -> None:
    """Wait until the broker answers for each partition of a topic that it leads.

    Raises:
        RuntimeError: it did not in time.
    """
    request_class, module = _message("ListOffsetsRequest")
    asked = [module.ListOffsetsPartition(partition_index=n, timestamp=LATEST) for n in range(partitions)]
    request = request_class(replica_id=-1, topics=[module.ListOffsetsTopic(name=topic, partitions=asked)])
    with Wire(address) as wire:
        while True:
            (found,) = wire.ask(request, list_offsets_version).topics
            if not _wait_longer((each.error_code for each in found.partitions), f"topic {topic}", deadline):
                return


def await_coordinators(bootstrap_servers: str, deadline: float) -> None:
    """Wait until groups are coordinated, whatever their names, by the broker that is asked if it is the only one.

    Raises:
        RuntimeError: it did not in time.
    """
    find_class, _ = _message("FindCoordinatorRequest")
    describe_class, _ = _message("DescribeGroupsRequest")
    address, *others = bootstrap_servers.split(",")
    with Wire(address) as wire:
        while True:
            found = [wire.ask(find_class(key=group), 0).error_code for group in GROUPS]
            described = []
            if not others:
                described = [group.error_code for group in wire.ask(describe_class(groups=list(GROUPS)), 0).groups]
            if not _wait_longer([*found, *described], "coordination", deadline):
                return


def _wait_longer(error_codes: Iterable[int], what: str, deadline: float) -> bool:
    """Whether something is not ready yet; pauses then."""
    errors = sorted(set(error_codes) - {0})
    if errors and time.monotonic() > deadline:
        raise RuntimeError(f"{what} is not served: errors {errors}")
    if errors:
        time.sleep(PAUSE_S)
    return bool(errors)


def _message(name: str) -> tuple[Any, Any]:
    """The class of a request, and the module that has its structs."""
    found: Any = message_class(name)
    return found, sys.modules[found.__module__]
