"""The synchronous and the asyncio admin client have the same methods, arguments, defaults and documentation."""

import asyncio
import gc
import inspect
import re
import warnings

import pytest

from kafka import AsyncKafkaAdminClient, KafkaAdminClient
from kafka.admin.admin_requests import gather
from kafka.errors import IllegalStateError, NoBrokersAvailable, UnsupportedVersionError
from unit.admin.conftest import options
from unit.net.scripted import SILENCE

ASYNC_ALONE = {"start", "stop"}
OPTIONS = {"DEFAULT_CONFIG", "config"}


def public(face):
    return {name for name in dir(face) if not name.startswith("_")}


SHARED = sorted((public(KafkaAdminClient) & public(AsyncKafkaAdminClient)) - OPTIONS)


def signature(face, name):
    parameters = inspect.signature(getattr(face, name)).parameters.values()
    return [(each.name, each.kind, each.default, each.annotation) for each in parameters]


def test_both_clients_have_the_same_names():
    assert public(AsyncKafkaAdminClient) - public(KafkaAdminClient) == ASYNC_ALONE
    assert public(KafkaAdminClient) <= public(AsyncKafkaAdminClient)
    assert AsyncKafkaAdminClient.DEFAULT_CONFIG is KafkaAdminClient.DEFAULT_CONFIG


@pytest.mark.parametrize("name", SHARED)
def test_methods_have_the_same_signature_in_both_clients(name):
    assert signature(AsyncKafkaAdminClient, name) == signature(KafkaAdminClient, name)
    documented = [inspect.getdoc(getattr(face, name)) for face in (AsyncKafkaAdminClient, KafkaAdminClient)]
    asynchronous, synchronous = (re.sub(r"\bAsync(?=Kafka)", "", text or "") for text in documented)
    assert asynchronous == synchronous != ""
    is_plain = name in ("health", "metrics") or name.endswith("_subscription")  # these send no request
    assert inspect.iscoroutinefunction(getattr(AsyncKafkaAdminClient, name)) is not is_plain


async def test_calls_before_start_and_after_close_raise(cluster):
    client = AsyncKafkaAdminClient(**options(cluster), api_version=(3, 0))
    assert (client.metrics(), client.config["api_version"]) == ({}, (3, 0))
    with pytest.raises(IllegalStateError, match=r"await start\(\)"):
        await client.list_topics()
    await client.close()
    await client.start()
    with pytest.raises(IllegalStateError, match="before"):
        await client.start()
    assert await client.list_topics() == ["t"]
    assert client.metrics()["admin-metrics"]
    await asyncio.gather(client.close(), client.stop())
    with pytest.raises(IllegalStateError, match="closed"):
        await client.list_topics()


async def test_a_failed_start_closes_everything():
    client = AsyncKafkaAdminClient(bootstrap_servers="127.0.0.1:1", bootstrap_timeout_ms=50)
    with pytest.raises(NoBrokersAvailable, match="refused"):
        await client.start()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_garbage_collected_client_warns_and_closes_its_connections(cluster):
    client = AsyncKafkaAdminClient(**options(cluster))
    await client.start()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        del client
        gc.collect()
    assert ["never closed" in str(each.message) for each in told if each.category is ResourceWarning] == [True]
    async with asyncio.timeout(60):
        while any(broker.open_connections for broker in cluster.brokers):
            await asyncio.sleep(0)


async def test_a_cancelled_call_leaves_no_task_behind(cluster):
    async with AsyncKafkaAdminClient(**options(cluster)) as client:
        await client.list_topics()
        for broker in cluster.brokers:
            broker.on("ListGroups", lambda *_: SILENCE)
        await asyncio.gather(*(client.get_broker_version_data(broker.node_id) for broker in cluster.brokers))
        before = asyncio.all_tasks()
        call = asyncio.create_task(client.list_groups())
        async with asyncio.timeout(60):
            while not all(broker.requests("ListGroups") for broker in cluster.brokers):
                await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert asyncio.all_tasks() == before


async def test_if_one_of_several_requests_fails_the_others_are_cancelled():
    ended = []

    async def wait():
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("waiting")

    async def fail():
        await asyncio.sleep(0)
        raise UnsupportedVersionError("too old")

    with pytest.raises(UnsupportedVersionError):
        await gather([wait(), fail()])
    assert ended == ["waiting"]
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_reporters_are_called_on_the_loop_and_closed(cluster):
    import threading

    from kafka.metrics.metrics_reporter import AbstractMetricsReporter

    called = set()

    class Reporter(AbstractMetricsReporter):
        def init(self, metrics):
            called.add("init")

        def metric_change(self, metric):
            called.add(threading.get_ident())

        def metric_removal(self, metric):
            pass

        def configure(self, configs):
            pass

        def close(self):
            called.add("closed")

    async with AsyncKafkaAdminClient(**options(cluster), metric_reporters=[Reporter]) as client:
        await client.list_topics()
    assert called == {"init", threading.get_ident(), "closed"}
