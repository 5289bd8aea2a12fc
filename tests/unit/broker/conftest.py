"""Fixtures for the broker's unit tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kafka.broker.disk_files import FilePool
from kafka.broker.log.log_options import LogOptions
from kafka.broker.log.partition import PartitionLog


@pytest.fixture
def open_log(tmp_path: Path) -> Iterator[Callable[..., PartitionLog]]:
    """Opens the log in the test's folder with the given options. Each call is like a start after a crash."""
    pools: list[FilePool] = []

    def open_it(**options: int) -> PartitionLog:
        pools.append(FilePool(4))
        return PartitionLog(tmp_path / "log", LogOptions(**options), pools[-1])

    yield open_it
    for pool in pools:
        pool.close()
