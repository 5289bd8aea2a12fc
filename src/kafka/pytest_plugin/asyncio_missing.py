"""Replacements for the asyncio fixtures if pytest-asyncio is missing: a test that uses one fails with a hint."""

from __future__ import annotations

from typing import NoReturn

import pytest


@pytest.fixture
def kafka_async_producer(request: pytest.FixtureRequest) -> NoReturn:
    """Needs pytest-asyncio."""
    _fail(request)


@pytest.fixture
def kafka_async_consumer(request: pytest.FixtureRequest) -> NoReturn:
    """Needs pytest-asyncio."""
    _fail(request)


@pytest.fixture
def kafka_async_admin(request: pytest.FixtureRequest) -> NoReturn:
    """Needs pytest-asyncio."""
    _fail(request)


def _fail(request: pytest.FixtureRequest) -> NoReturn:
    pytest.fail(f"the fixture {request.fixturename} needs pytest-asyncio: pip install pytest-asyncio", pytrace=False)
