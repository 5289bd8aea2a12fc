"""Connections leave file descriptors for logs; too many of them do not keep the broker busy."""

from __future__ import annotations

import logging

import pytest

from kafka.broker import EmbeddedBroker, connection_listener, disk_files
from kafka.broker.connection_listener import DescriptorReserve
from kafka.wire.api.metadata import MetadataRequest
from unit.broker.wireclient import WireClient


@pytest.mark.parametrize(("limit", "most"), [(1024, 895), (100, 74), (1_000_000, 999_871)])
def test_the_last_descriptors_are_reserved(limit: int, most: int) -> None:
    reserve = DescriptorReserve(limit)
    assert [reserve.may_keep(number, 0.0) for number in (3, most, most + 1)] == [True, True, False]


@pytest.mark.parametrize(("limit", "most"), [(1024, 256), (256, 128), (1, 1), (None, 256)])
def test_log_files_use_at_most_half_of_the_descriptors(
    monkeypatch: pytest.MonkeyPatch, limit: int | None, most: int
) -> None:
    monkeypatch.setattr(disk_files, "descriptor_limit", lambda: limit)
    assert disk_files.most_files(256) == most


def test_a_system_without_a_limit_has_no_reserve(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_listener, "descriptor_limit", lambda: None)
    assert DescriptorReserve().may_keep(2**20, 0.0)


def test_refused_connections_are_logged_once_per_minute(caplog: pytest.LogCaptureFixture) -> None:
    reserve = DescriptorReserve(100)
    with caplog.at_level(logging.WARNING):
        for now in (0.0, 1.0, 59.0, 60.0, 61.0):
            assert not reserve.may_keep(99, now)
    assert caplog.text.count("new connections are closed") == 2


async def test_an_excess_connection_is_closed_and_others_stay_open(monkeypatch: pytest.MonkeyPatch) -> None:
    ends: list[int] = []
    monkeypatch.setattr(
        DescriptorReserve, "may_keep", lambda self, number, now: ends.append(number) is None and len(ends) < 2
    )
    async with EmbeddedBroker() as broker, WireClient(broker) as client:
        assert (await client.call(MetadataRequest(), 12)).brokers
        async with WireClient(broker) as another:
            assert await another.is_closed()
        assert (await client.call(MetadataRequest(), 12)).brokers
    assert len(ends) == 2
    assert min(ends) > 0
