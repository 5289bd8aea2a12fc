"""Clients that were made before a fork, in the child: what is safe works, all else says at once what to do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka.broker import EmbeddedBroker

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")

PATIENCE_S = 120
SCRIPT = """
import asyncio, json, os, sys, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # Python warns of forks beside threads
import pyarrow
import kafka
from kafka import *
from kafka.aio import AIOKafkaConsumer, AIOKafkaProducer
servers, topic = sys.argv[1:]
tp = TopicPartition(topic, 0)
reading = dict(bootstrap_servers=servers, auto_offset_reset="earliest")
found = {}
def fork(name, act):
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        try:
            said = act()
            said = "nothing" if said is None else said
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(theirs, json.dumps(said).encode())
        os._exit(0)
    os.close(theirs)
    with open(ours) as answer:
        found[name] = json.load(answer)
    os.waitpid(child, 0)
def ended():
    print(json.dumps(found))
"""


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[str]:
    with EmbeddedBroker(tmp_path, group_initial_rebalance_delay_ms=0) as broker:
        yield broker.bootstrap_servers


def run(code: str, servers: str) -> dict[str, object]:
    """What each call said in its child: what was returned, or what was raised."""
    command = [sys.executable, "-c", SCRIPT + code + "\nended()", servers, "forked"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


def check_told(found: dict[str, object]) -> None:
    """All but what closes is told that it was made before the fork, and what to do."""
    for name, said in found.items():
        if "close" in name or "stop" in name:
            assert said == "nothing", name
        else:
            assert str(said).startswith("ForkedClientError: "), f"{name}: {said}"
            assert "create a new one in this process" in str(said)
            assert "post_fork" in str(said)


def test_synchronous_clients_say_at_once_what_to_do_and_close_without_a_word(servers: str) -> None:
    code = """
producer = KafkaProducer(bootstrap_servers=servers, linger_ms=60_000)
pending = [producer.send(topic, b"%d" % number) for number in range(3)]
transactional = KafkaProducer(bootstrap_servers=servers, transactional_id="forked")
transactional.init_transactions()
admin = KafkaAdminClient(bootstrap_servers=servers)
with KafkaProducer(bootstrap_servers=servers) as other:
    for _ in range(3):
        other.send(topic, b"first").get(30)
consumer, iterating = KafkaConsumer(topic, group_id="forked", **reading), KafkaConsumer(topic, **reading)
while not consumer.poll(1000):
    pass
share = KafkaShareConsumer(topic, bootstrap_servers=servers, group_id="shared")
next(iterating)  # it holds two more, which are the parent's to hand out
fork("send", lambda: producer.send(topic, b"child"))
fork("get", lambda: pending[0].get(30))
fork("flush", producer.flush)
fork("send_arrow", lambda: producer.send_arrow(topic, pyarrow.table({"value": ["child"]})))
fork("begin_transaction", transactional.begin_transaction)
fork("producer.close", producer.close)
fork("poll", lambda: consumer.poll(1000))
fork("poll_arrow", lambda: consumer.poll_arrow(1000))
fork("next", lambda: next(iterating))
fork("commit", consumer.commit)
fork("seek", lambda: consumer.seek(tp, 0))
fork("consumer.close", consumer.close)
fork("share poll", lambda: share.poll(1000))
fork("share close", share.close)
fork("topics", admin.list_topics)
fork("admin.close", admin.close)
assert [next(iterating).offset for _ in range(2)] == [1, 2]
admin.list_topics()
consumer.commit()
producer.close()
assert [each.get(0).offset for each in pending] == [3, 4, 5]
for each in transactional, consumer, iterating, share, admin:
    each.close()
"""
    check_told(run(code, servers))


def test_asyncio_clients_that_run_say_at_once_what_to_do(servers: str) -> None:
    code = """
async def main():
    producer = AsyncKafkaProducer(bootstrap_servers=servers, linger_ms=60_000)
    consumer, admin = AsyncKafkaConsumer(topic, **reading), AsyncKafkaAdminClient(bootstrap_servers=servers)
    sending, receiving = AIOKafkaProducer(bootstrap_servers=servers), AIOKafkaConsumer(topic, **reading)
    clients = producer, consumer, admin, sending, receiving
    for each in clients:
        await each.start()
    for _ in range(3):
        await sending.send_and_wait(topic, b"first")
    await receiving.getone()  # it holds two more, which are the parent's to hand out
    pending = await producer.send(topic, b"pending")
    async def outcome():
        return await pending
    calls = {
        "send": lambda: producer.send(topic, b"child"), "future": outcome, "flush": producer.flush,
        "producer.stop": producer.stop, "aio send": lambda: sending.send_and_wait(topic, b"child"),
        "aio producer.stop": sending.stop, "getone": consumer.getone, "poll": lambda: consumer.poll(1000),
        "topics": consumer.topics, "consumer.stop": consumer.stop, "aio getone": receiving.getone,
        "aio getmany": lambda: receiving.getmany(timeout_ms=1000), "aio consumer.stop": receiving.stop,
        "admin": admin.list_topics, "admin.close": admin.close,
    }
    for name, call in calls.items():
        async def in_child():
            return await call()
        fork(name, lambda: asyncio.run(in_child()))
    assert [(await receiving.getone()).offset for _ in range(2)] == [1, 2]
    await admin.list_topics()
    for each in clients:
        await each.stop()
    assert (await pending).offset == 3
asyncio.run(main())
"""
    check_told(run(code, servers))


def test_what_is_not_connected_yet_works_in_the_child(servers: str) -> None:
    code = """
from kafka.errors import ForkedClientError
old = KafkaProducer(bootstrap_servers=servers)  # the loop's thread is there at the fork
unstarted = AsyncKafkaProducer(bootstrap_servers=servers), AIOKafkaProducer(bootstrap_servers=servers)
consumers = AsyncKafkaConsumer(topic, **reading), AIOKafkaConsumer(topic, **reading)
def new():
    with KafkaProducer(bootstrap_servers=servers) as producer:
        return producer.send(topic, b"new").get(30).offset
def sent(producer):
    async def send():
        async with producer:
            return (await producer.send_and_wait(topic, b"unstarted")).offset
    return lambda: asyncio.run(send())
def read(consumer):
    async def first():
        async with consumer:
            return (await consumer.getone()).value.decode()
    return lambda: asyncio.run(first())
fork("a new one", new)
for number, (producer, consumer) in enumerate(zip(unstarted, consumers)):
    fork(f"send {number}", sent(producer))
    fork(f"read {number}", read(consumer))
old.send(topic, b"parent").get(30)
old.close()
"""
    assert run(code, servers) == {"a new one": 0, "send 0": 1, "read 0": "new", "send 1": 2, "read 1": "new"}


def test_an_asyncio_client_says_that_its_loop_is_closed(servers: str) -> None:
    code = """
admin, consumer = AsyncKafkaAdminClient(bootstrap_servers=servers), AsyncKafkaConsumer(topic, **reading)
async def begin():
    await admin.start()
    await consumer.start()
def said(call):
    async def later():
        return await call()
    try:
        return asyncio.run(later())
    except Exception as error:
        return f"{type(error).__name__}: {error}"
asyncio.run(begin())
found["poll"] = said(lambda: consumer.poll(600_000))
found["admin"] = said(admin.list_topics)
import gc
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    del admin, consumer
    gc.collect()
found["warned"] = sum("never closed" in str(each.message) or "without being" in str(each.message) for each in caught)
"""
    found = run(code, servers)
    assert found.pop("warned") == 2
    for name, said in found.items():
        assert str(said).startswith("IllegalStateError: the event loop that this client was started on is closed"), name
