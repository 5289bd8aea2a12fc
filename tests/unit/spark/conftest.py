"""Fixtures for the tests of Spark's source and sink."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka.spark.client_cache import CONSUMERS, PRODUCERS


@pytest.fixture(scope="module", autouse=True)
def no_client_is_left() -> Iterator[None]:
    """Close the cached clients of tasks, because their brokers end with the module."""
    yield
    for cache in (CONSUMERS, PRODUCERS):
        while cache._idle:
            cache._let_go(cache._idle.pop()[1])
