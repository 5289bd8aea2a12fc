"""Decoding answers in threads ends with an answer or an error, whatever happens meanwhile."""

import asyncio
import threading

import pytest

from kafka.errors import Cancelled
from kafka.net import receiver
from kafka.net.buffers import BufferPool
from kafka.net.pending_requests import InFlight
from kafka.net.receiver import AnswerReader
from kafka.wire.api.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from kafka.wire.framing import encode_response

VERSION = 4


def frame(groups):
    response = ListGroupsResponse(groups=[ListedGroup(group_id=f"group-{n}") for n in range(groups)])
    data = b"".join(encode_response(response, VERSION, 1))[4:]
    buffer = BufferPool().take(len(data))
    buffer.view[:] = data
    return buffer


@pytest.fixture
async def world():
    class ReaderSetup:
        def __init__(self):
            self.given, self.unreadable = [], []
            loop = asyncio.get_running_loop()
            self.reader = AnswerReader(loop, self.give, lambda entry, error: self.unreadable.append(error))
            self.entry = InFlight(ListGroupsRequest, VERSION, loop.create_future(), 30.0)

        def give(self, entry, quiet_s, response, buffer):
            self.given.append(response)

        def read(self, groups):
            buffer = frame(groups)
            return self.reader.read(self.entry, buffer.view, buffer)

        async def idle(self):
            while self.reader._beside:
                await asyncio.sleep(0)

    return ReaderSetup()


async def test_a_small_answer_is_decoded_at_once(world):
    assert world.read(10)
    assert [len(response.groups) for response in world.given] == [10]


@pytest.mark.slow
async def test_a_large_answer_is_decoded_in_a_thread_and_passed_on_the_loop(world):
    assert world.read(20_000)
    assert world.given == []
    await world.idle()
    assert [len(response.groups) for response in world.given] == [20_000]


async def test_a_large_answer_that_cannot_be_decoded_is_reported(world, monkeypatch):
    def broken(*args):
        raise ValueError("a fault")

    monkeypatch.setattr(receiver, "decode_response", broken)
    assert not world.read(10)
    assert world.read(20_000)
    await world.idle()
    assert [str(error) for error in world.unreadable] == ["a fault"] * 2
    assert world.given == []


async def test_the_waiter_gets_an_error_when_the_loop_ends(world):
    world.read(20_000)
    await asyncio.sleep(0)
    (task,) = world.reader._beside
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert isinstance(world.entry.future.exception(), Cancelled)
    for thread in threading.enumerate():  # it pauses the collector while it decodes
        if thread.name == "kafka-blocking":
            thread.join(30)
