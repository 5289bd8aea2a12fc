"""Fixtures: a scripted broker, and a reset of what connections remember about addresses."""

import pytest

from kafka.net import connect, peer_probes
from kafka.wire.api.heartbeat import HeartbeatResponse
from unit.net.scripted import ScriptedBroker


@pytest.fixture
async def broker():
    async with ScriptedBroker() as broker:
        broker.on("Heartbeat", lambda *_: HeartbeatResponse(error_code=0))
        yield broker


@pytest.fixture(autouse=True)
def _forget_greetings():
    for known in (connect._greetings, peer_probes._known):
        known.clear()
    yield
    for known in (connect._greetings, peer_probes._known):
        known.clear()
