"""Finding the cluster: no connection is left behind, whatever comes in between."""

import asyncio
import random
from types import SimpleNamespace

import pytest

from kafka.cluster import bootstrap as module
from kafka.cluster.bootstrap import Bootstrap
from kafka.config import parse_admin
from kafka.errors import KafkaConfigurationError, KafkaConnectionError, NoBrokersAvailable

A, B = ("a", 9092), ("b", 9092)


class FakeConnection:
    def __init__(self, server):
        self.server = server
        self.ended = False

    def abort(self, error):
        self.ended = True


class Servers:
    """Bootstrap servers that answer when a test says so.

    Attributes:
        opened: the connections, in the order in which they were opened.
        answers: by server a future of the answer to its Metadata request.
        stubborn: servers whose answer does not heed a cancellation.
        resisted: set once one of them was cancelled.
    """

    def __init__(self):
        self.opened = []
        self.answers = {server: asyncio.get_running_loop().create_future() for server in (A, B)}
        self.stubborn = set()
        self.resisted = asyncio.Event()

    async def open(self, host, port, *rest):
        self.opened.append(FakeConnection((host, port)))
        return self.opened[-1]

    async def ask(self, connection, *rest):
        while True:
            try:
                return await asyncio.shield(self.answers[connection.server])
            except asyncio.CancelledError:
                if connection.server not in self.stubborn:
                    raise
                self.resisted.set()

    async def all_asked(self):
        while len(self.opened) < 2:
            await asyncio.sleep(0)

    @property
    def left_open(self):
        return [connection.server for connection in self.opened if not connection.ended]


@pytest.fixture
async def servers(monkeypatch):
    servers = Servers()
    monkeypatch.setattr(module, "open_connection", servers.open)
    monkeypatch.setattr(module, "_STAGGER_S", 0.0)
    return servers


@pytest.fixture
def bootstrap(servers):
    parsed = parse_admin({"bootstrap_servers": [f"{host}:{port}" for host, port in (A, B)]})
    return Bootstrap(parsed.connection, parsed.security, servers.ask, random.Random(1))


async def test_the_first_response_is_used_and_the_other_connection_closed(servers, bootstrap):
    looking = asyncio.create_task(bootstrap.once(None))
    await servers.all_asked()
    servers.answers[B].set_result("metadata")
    connection, response = await looking
    assert (connection.server, response) == (B, "metadata")
    assert servers.left_open == [B]


async def test_of_two_simultaneous_responses_one_connection_is_kept(servers, bootstrap):
    looking = asyncio.create_task(bootstrap.once(None))
    await servers.all_asked()
    for answer in servers.answers.values():
        answer.set_result("metadata")
    connection, _ = await looking
    assert servers.left_open == [connection.server]


async def test_a_response_takes_precedence_over_a_permanent_error(servers, bootstrap):
    looking = asyncio.create_task(bootstrap.once(None))
    await servers.all_asked()
    servers.answers[A].set_exception(KafkaConfigurationError("wrong"))
    servers.answers[B].set_result("metadata")
    connection, _ = await looking
    assert servers.left_open == [connection.server] == [B]


async def test_a_permanent_error_leaves_no_connection(servers, bootstrap):
    looking = asyncio.create_task(bootstrap.once(None))
    await servers.all_asked()
    servers.answers[A].set_exception(KafkaConfigurationError("wrong"))
    with pytest.raises(KafkaConfigurationError, match="wrong"):
        await looking
    assert servers.left_open == []


async def test_a_found_connection_is_closed_if_the_search_is_cancelled(servers, bootstrap):
    servers.stubborn.add(A)
    looking = asyncio.create_task(bootstrap.once(None))
    await servers.all_asked()
    servers.answers[B].set_result("metadata")
    await servers.resisted.wait()  # B was taken, and the end of A is waited for
    looking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await looking
    assert servers.left_open == [A]
    servers.answers[A].set_result("metadata")  # which comes although nobody waits any more
    while servers.left_open:
        await asyncio.sleep(0)


async def test_pauses_between_rounds_grow(servers, bootstrap, monkeypatch):
    counted = []

    def seconds(failures):
        counted.append(failures)
        return 0.0

    async def fail(topics):
        if len(counted) < 3:
            raise NoBrokersAvailable("none")
        return "found"

    bootstrap._backoff = SimpleNamespace(seconds=seconds)
    bootstrap.once = fail
    bootstrap._failures[A] = KafkaConnectionError("gone")
    monkeypatch.setattr(bootstrap, "_hopeless", lambda: False)
    assert await bootstrap.until_found(None) == "found"
    assert counted == [1, 2, 3]


def test_a_round_is_never_more_than_about_a_second_away():
    parsed = parse_admin({"bootstrap_servers": "a:1", "reconnect_backoff_max_ms": 30_000})
    found = Bootstrap(parsed.connection, parsed.security, None, random.Random(1))
    assert 0.8 <= found._backoff.seconds(50) <= 1.2
    assert 24 <= found._again_backoff.seconds(50) <= 36
