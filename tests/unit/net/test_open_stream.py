"""Connecting to several addresses of a name leaves no stream open, whatever happens."""

import asyncio

import pytest

from kafka.net import open_stream as module
from kafka.net.frame_stream import Stream

ADDRESSES = [(2, ("10.0.0.1", 9092)), (2, ("10.0.0.2", 9092))]


class FakeStream(Stream):
    def __init__(self):
        super().__init__(lambda *_: True, lambda *_: None, 1_000)
        self.aborted = False

    def abort(self, why=None):
        self.aborted = True


@pytest.fixture
async def race(monkeypatch):
    """Try both addresses at once. Both connect, and the first ignores its cancellation."""
    monkeypatch.setattr(module, "_STAGGER_S", 0.0)
    race = module._Race("b", 9092, None, FakeStream)
    race.streams, race.may_connect, race.resisted = [], asyncio.Event(), asyncio.Event()

    async def connect(family, address, timeout_s):
        while address == ADDRESSES[0][1] and not race.may_connect.is_set():
            try:
                await race.may_connect.wait()
            except asyncio.CancelledError:
                race.resisted.set()
        race.streams.append(FakeStream())
        return race.streams[-1]

    monkeypatch.setattr(race, "_connect", connect)
    return race


async def test_a_stream_that_connects_too_late_is_closed(race):
    connecting = asyncio.create_task(race.run(ADDRESSES, 60.0))
    await race.resisted.wait()
    race.may_connect.set()
    winner = await connecting
    while len(race.streams) < 2:
        await asyncio.sleep(0)
    assert winner is race.streams[0]
    assert [stream.aborted for stream in race.streams] == [False, True]


async def test_a_race_cancelled_at_its_end_leaves_no_stream(race):
    connecting = asyncio.create_task(race.run(ADDRESSES, 60.0))
    await race.resisted.wait()
    connecting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await connecting
    assert [stream.aborted for stream in race.streams] == [True]
    race.may_connect.set()
    while len(race.streams) < 2 or not race.streams[1].aborted:
        await asyncio.sleep(0)
