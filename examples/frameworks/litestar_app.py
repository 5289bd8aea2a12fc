"""A web service with Litestar: orders come in by POST and go to a topic; a consumer adds them up for GET.

Producer and consumer live as long as the application: its lifespan starts them on the event loop that serves it, and
closes them. Handlers receive the producer and the totals as dependencies, so that tests can replace them. The consumer
has no group: every worker process reads all partitions, and so can answer for all customers.

    pip install kafka-columnar litestar uvicorn
    KAFKA_BOOTSTRAP_SERVERS=localhost:9092 uvicorn litestar_app:app
    curl -X POST localhost:8000/orders/ada -H 'Content-Type: application/json' -d '{"amount": 3}'
    curl localhost:8000/orders/ada
"""

import asyncio
import collections
import contextlib
import os
from collections.abc import AsyncIterator
from typing import Any

import msgspec
from litestar import Litestar, get, post
from litestar.datastructures import State
from litestar.di import Provide
from litestar.exceptions import ServiceUnavailableException

from kafka import AsyncKafkaConsumer, AsyncKafkaProducer
from kafka.errors import KafkaError

SERVERS = os.environ.get("KAFKA_BOOTSTRAP_SERVERS", "localhost:9092")
TOPIC = os.environ.get("KAFKA_TOPIC", "web-orders")


class Order(msgspec.Struct):
    amount: int


async def add_up(consumer: AsyncKafkaConsumer[str, Order], totals: dict[str, int]) -> None:
    async for record in consumer:
        totals[record.key] += record.value.amount


@contextlib.asynccontextmanager
async def clients(app: Litestar) -> AsyncIterator[None]:
    app.state.totals = collections.defaultdict(int)
    app.state.producer = AsyncKafkaProducer(
        bootstrap_servers=SERVERS, key_serializer=str.encode, value_serializer=msgspec.json.encode
    )
    consumer = AsyncKafkaConsumer(
        TOPIC,
        bootstrap_servers=SERVERS,
        auto_offset_reset="earliest",
        key_deserializer=bytes.decode,
        value_deserializer=msgspec.json.Decoder(Order).decode,
    )
    async with app.state.producer, consumer:
        app.state.reading = asyncio.create_task(add_up(consumer, app.state.totals))
        try:
            yield
        finally:
            app.state.reading.cancel()
            await asyncio.wait({app.state.reading})


async def provide_producer(state: State) -> AsyncKafkaProducer[str, Order]:
    return state.producer


async def provide_totals(state: State) -> dict[str, int]:
    return state.totals


@post("/orders/{customer:str}", status_code=202)
async def take(customer: str, data: Order, producer: AsyncKafkaProducer[str, Order]) -> dict[str, int]:
    """Answers once the order cannot be lost any more."""
    try:
        written = await producer.send_and_wait(TOPIC, data, key=customer)
    except KafkaError as error:
        raise ServiceUnavailableException("orders cannot be taken at the moment") from error
    return {"partition": written.partition, "offset": written.offset}


@get("/orders/{customer:str}")
async def total(customer: str, totals: dict[str, int]) -> dict[str, int]:
    return {"total": totals.get(customer, 0)}


@get("/health")
async def health(state: State, totals: dict[str, int]) -> dict[str, Any]:
    if state.reading.done():
        raise ServiceUnavailableException(f"the consumer has ended: {state.reading.exception()}")
    return {"orders": sum(totals.values())}


app = Litestar(
    route_handlers=[take, total, health],
    lifespan=[clients],
    dependencies={"producer": Provide(provide_producer), "totals": Provide(provide_totals)},
)
