"""A forked child shares nothing with its parent."""

import asyncio
import os
import socket
import stat

import pytest

from kafka.config import parse_admin
from kafka.errors import ForkedClientError
from kafka.net import LoopThread, open_connection
from kafka.net.fork import close_in_children
from kafka.wire.api.heartbeat import HeartbeatRequest, HeartbeatResponse
from unit.net.scripted import ScriptedBroker

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]


@pytest.fixture
async def broker():
    async with ScriptedBroker() as broker:
        broker.on("Heartbeat", lambda *_: HeartbeatResponse())
        yield broker


@pytest.fixture
async def connection(broker):
    parsed = parse_admin({})
    opening = open_connection(broker.host, broker.port, parsed.connection, parsed.security)
    connection = await asyncio.to_thread(LoopThread.shared().run, opening, 10)
    yield connection
    await asyncio.to_thread(LoopThread.shared().run, connection.close(), 10)


def in_child(check):
    """Return whether ``check()`` is true in a forked child."""
    child = os.fork()
    if child == 0:
        ok = False
        try:
            ok = check()
        finally:
            os._exit(0 if ok else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def heartbeat():
    return HeartbeatRequest(group_id="g", generation_id=1, member_id="m")


async def test_a_child_cannot_reach_the_parents_socket_and_the_parent_continues(connection):
    thread = LoopThread.shared()
    descriptor = connection._stream.extra("socket").fileno()

    def check():
        try:
            thread.run(connection.send(heartbeat()), 5)
        except ForkedClientError:
            return not stat.S_ISSOCK(os.fstat(descriptor).st_mode)
        return False

    assert in_child(check)
    assert stat.S_ISSOCK(os.fstat(descriptor).st_mode)
    assert await asyncio.to_thread(thread.run, connection.send(heartbeat()), 10) == HeartbeatResponse()


async def test_the_broker_sees_the_parent_close_while_a_child_lives(broker, connection):
    go_on, may_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.read(go_on, 1)
        os._exit(0)
    try:
        await asyncio.to_thread(LoopThread.shared().run, connection.close(), 10)
        async with asyncio.timeout(60):
            while broker._writers:
                await asyncio.sleep(0)
    finally:
        os.write(may_end, b"x")
        os.waitpid(child, 0)
        os.close(go_on)
        os.close(may_end)


async def test_a_child_opens_its_own_connections(broker, connection):
    parsed = parse_admin({})

    def check():
        async def use():
            own = await open_connection(broker.host, broker.port, parsed.connection, parsed.security)
            answer = await own.send(heartbeat())
            await own.close()
            return answer == HeartbeatResponse()

        return LoopThread.shared().run(use(), 10)

    assert await asyncio.to_thread(in_child, check)


class NumberedSocket:
    """A socket with a chosen descriptor."""

    def __init__(self, number):
        self._number = number

    def fileno(self):
        return self._number


class Owner:
    loop = None

    def abort(self, error):
        pass


def test_a_socket_with_descriptor_0_is_replaced_and_a_closed_one_is_skipped():
    ours, theirs = socket.socketpair()
    kept, owner, closed = os.dup(0), Owner(), Owner()
    close_in_children(closed, NumberedSocket(-1))
    close_in_children(owner, NumberedSocket(0))
    os.dup2(ours.fileno(), 0)
    try:
        assert stat.S_ISSOCK(os.fstat(0).st_mode)
        assert in_child(lambda: not stat.S_ISSOCK(os.fstat(0).st_mode) and not os.get_inheritable(0))
        assert in_child(lambda: os.write(0, b"to nobody") == 9 and os.read(0, 1) == b"")
    finally:
        os.dup2(kept, 0)
        os.close(kept)
        ours.close()
        theirs.close()
