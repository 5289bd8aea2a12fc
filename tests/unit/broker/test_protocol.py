"""Edge cases of the protocol: versions, invalid frames, and the order of responses."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import AsyncIterator

import pytest

from kafka.broker import EmbeddedBroker
from kafka.broker.api import APIS, Api
from kafka.wire import message_class, request_class
from kafka.wire.api.api_versions import ApiVersionsRequest, ApiVersionsResponse
from kafka.wire.api.metadata import MetadataRequest, MetadataRequestTopic
from kafka.wire.api.produce import ProduceRequest
from kafka.wire.framing import encode_request
from unit.broker.batches import make_batch
from unit.broker.requests import create, fetch_request, produce_request, produced
from unit.broker.wireclient import WireClient


@pytest.fixture
async def broker() -> AsyncIterator[EmbeddedBroker]:
    async with EmbeddedBroker(max_request_bytes=1 << 20) as running:
        yield running


@pytest.fixture
async def client(broker: EmbeddedBroker) -> AsyncIterator[WireClient]:
    async with WireClient(broker) as connected:
        yield connected


@pytest.mark.parametrize("api", APIS.values(), ids=lambda api: api.name)
def test_the_api_table_matches_messages_and_handlers(api: Api) -> None:
    request = message_class(f"{api.name}Request")
    assert api.key == request.API_KEY
    assert request.MIN_VERSION <= api.min_version <= api.max_version <= request.MAX_VERSION
    assert callable(api.handler())


@pytest.mark.parametrize("api", APIS.values(), ids=lambda api: api.name)
async def test_every_version_responds_to_an_empty_request(client: WireClient, api: Api) -> None:
    for version in range(api.min_version, api.max_version + 1):
        request = request_class(api.key)()
        if isinstance(request, ProduceRequest):
            request.acks = -1
        response = await client.call(request, version)
        assert f"{api.name}Response" == type(response).NAME


async def test_every_served_api_is_returned(client: WireClient) -> None:
    response = await client.call(ApiVersionsRequest(client_software_name="x", client_software_version="1"), 4)
    assert response.error_code == 0
    named = {one.api_key: (one.min_version, one.max_version) for one in response.api_keys}
    asked_for = (71, 72)  # client metrics, which a setting enables
    assert named == {api.key: (api.min_version, api.max_version) for api in APIS.values() if api.key not in asked_for}
    assert 88 not in named, "there are no streams groups"
    assert [one.name for one in response.supported_features] == [
        "metadata.version",
        "transaction.version",
        "group.version",
        "share.version",
    ]
    assert [one.name for one in response.finalized_features] == [
        "metadata.version",
        "transaction.version",
        "group.version",
        "share.version",
    ]
    assert response.finalized_features_epoch >= 0


async def test_trailing_bytes_of_a_request_are_ignored(client: WireClient) -> None:
    """librdkafka 2.3 and later requests all topics with a null array and three extra bytes."""
    await create(client, "t")
    head = bytes.fromhex("0003000d00000007" + "0001" + "78" + "00")
    body = bytes.fromhex("00000000" + "010000")
    await client.write((len(head) + len(body)).to_bytes(4, "big") + head + body)
    response = await client.receive(MetadataRequest, 13, 7)
    assert [topic.name for topic in response.topics] == ["t"]


async def test_a_future_api_versions_request_gets_a_version_0_response(client: WireClient) -> None:
    await client.write(bytes.fromhex("0000000a0012006300000007ffff"))
    frame = await client.read_frame()
    assert frame[:4] == b"\0\0\0\x07"
    response = ApiVersionsResponse.decode(frame[4:], 0)
    assert response.error_code == 35
    assert [(one.api_key, one.min_version, one.max_version) for one in response.api_keys] == [(18, 0, 4)]
    assert (await client.call(ApiVersionsRequest(), 0)).error_code == 0


@pytest.mark.parametrize(
    ("name", "version", "code"),
    [
        ("kafka-columnar", "0.1.0", 0),
        ("x", "1", 0),
        ("", "1", 42),
        ("x", "", 42),
        ("x", "1.0+local", 42),
        ("x y", "1", 42),
        ("x.", "1", 42),
        ("-x", "1", 42),
        ("x\n", "1", 42),
        ("\u00e9", "1", 42),
    ],
)
async def test_an_invalid_client_name_is_rejected_and_may_be_corrected(
    client: WireClient, name: str, version: str, code: int
) -> None:
    asked = ApiVersionsRequest(client_software_name=name, client_software_version=version)
    for number in (3, 4):
        answer = await client.call(asked, number)
        assert (answer.error_code, bool(answer.api_keys)) == (code, code == 0)
    assert (await client.call(asked, 2)).error_code == 0, "it was not said then"


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param("0000000a0044000000000001ffff", id="an API that is not served"),
        pytest.param("0000000a7fff000000000001ffff", id="an API that there is not"),
        pytest.param("0000000a0003006300000001ffff", id="a version that is not served"),
        pytest.param("0000000a0003ffff00000001ffff", id="a version below zero"),
        pytest.param("0000000c0003000100000001ffff0001", id="a request cut short"),
        pytest.param("0000000a00030001000000017fff", id="a client id longer than the frame"),
        pytest.param("7fffffff", id="a size beyond the limit"),
        pytest.param("ffffffff", id="a size below zero"),
        pytest.param("00000000", id="a size of nothing"),
        pytest.param("474554202f20485454502f312e310d0a0d0a", id="HTTP"),
        pytest.param("160301020001000001fc0303", id="TLS"),
    ],
)
async def test_an_invalid_request_closes_only_its_own_connection(
    broker: EmbeddedBroker, client: WireClient, frame: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with WireClient(broker) as bad:
        with caplog.at_level(logging.WARNING, "kafka.broker"):
            await bad.write(bytes.fromhex(frame))
            assert await bad.is_closed()
    assert len(caplog.records) == 1
    assert "closing the connection" in caplog.text
    assert (await client.call(ApiVersionsRequest(), 0)).error_code == 0


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (
            b"GET / HTTP/1.1\r\n\r\n",
            "it does not speak Kafka's protocol, but sent 'GET ': a browser, or another client",
        ),
        (b"\x16\x03\x01\x02\x00\x01\x00", "it speaks TLS, and this listener does not: the client needs security_proto"),
        (b"\x7f\xff\xff\xff", "a request must have 8 to 1048576 bytes, but this one claims 2147483647"),
    ],
    ids=["HTTP", "TLS", "a size"],
)
async def test_other_protocols_are_named_in_the_log(
    broker: EmbeddedBroker, sent: bytes, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with WireClient(broker) as bad:
        with caplog.at_level(logging.WARNING, "kafka.broker"):
            await bad.write(sent)
            assert await bad.is_closed()
    assert f"closing the connection of 127.0.0.1: {said}" in caplog.text


async def test_random_bytes_do_no_harm(
    broker: EmbeddedBroker, client: WireClient, caplog: pytest.LogCaptureFixture
) -> None:
    dice = random.Random(5)
    with caplog.at_level(logging.CRITICAL, "kafka.broker"):
        for _ in range(200):
            body = dice.randbytes(dice.randrange(8, 200))
            key = dice.choice(list(APIS))
            head = key.to_bytes(2, "big") + dice.randrange(APIS[key].max_version + 1).to_bytes(2, "big")
            async with WireClient(broker) as bad:
                await bad.write((len(body) + 4).to_bytes(4, "big") + head + body)
                # A size beyond the limit closes the connection, whatever the result of the first frame.
                await bad.write(b"\x7f\xff\xff\xff")
                await bad.read_to_the_end()
    assert (await client.call(ApiVersionsRequest(), 0)).error_code == 0


async def test_a_request_may_arrive_byte_by_byte(client: WireClient) -> None:
    request = MetadataRequest(topics=None)
    for byte in b"".join(encode_request(request, 12, 1, "slow")):
        await client.write(bytes([byte]))
        await asyncio.sleep(0)
    assert (await client.receive(MetadataRequest, 12, 1)).brokers


async def test_a_large_request_between_small_ones_is_served(client: WireClient) -> None:
    await create(client, "t", max_message_bytes="2000000")
    for size in (10, 300_000, 10, 900_000, 100_000, 10):
        response = await client.call(produce_request("t", make_batch([b"x" * size])), 9)
        assert produced(response).error_code == 0


async def test_responses_are_sent_in_the_order_of_the_requests(client: WireClient) -> None:
    await create(client, "t")
    poll = await client.send(fetch_request("t", max_wait_ms=100), 11)
    numbers = [await client.send(MetadataRequest(topics=None), 12) for _ in range(300)]
    await client.receive(type(fetch_request("t")), 11, poll)
    for number in numbers:
        await client.receive(MetadataRequest, 12, number)


async def test_serving_pauses_while_a_client_does_not_read(client: WireClient) -> None:
    await create(client, "t", max_message_bytes="2000000")
    for _ in range(3):
        await client.call(produce_request("t", make_batch([b"x" * 900_000])), 9)
    asked = fetch_request("t")
    asked.max_bytes = asked.topics[0].partitions[0].partition_max_bytes = 4_000_000
    numbers = [await client.send(asked, 11) for _ in range(20)]
    for number in numbers:
        response = await client.receive(type(asked), 11, number)
        assert len(response.responses[0].partitions[0].records or b"") > 2_700_000


async def test_idle_connections_hold_no_large_buffers(broker: EmbeddedBroker) -> None:
    async with contextlib.AsyncExitStack() as stack:
        for _ in range(30):
            client = await stack.enter_async_context(WireClient(broker))
            many = [MetadataRequestTopic(name="x" * 30_000) for _ in range(30)]
            await client.call(MetadataRequest(topics=many, allow_auto_topic_creation=False), 9)
        server = broker._running()
        held = sum(len(one._received._buffer) for one in server._connections)
        assert held <= 30 * 64 * 1024
        assert server._pool.nbytes <= 16 * 1024 * 1024
