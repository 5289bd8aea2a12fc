"""A web service with FastAPI: orders come in by POST and go to a topic; a consumer adds them up for GET.

Producer and consumer live as long as the application. They are started on the event loop that serves it, so each worker
process has its own, whatever forks. The consumer has no group: every worker reads all partitions, and so can answer
for all customers.

    pip install kafka-columnar fastapi uvicorn
    KAFKA_BOOTSTRAP_SERVERS=localhost:9092 uvicorn fastapi_app:app
    curl -X POST localhost:8000/orders/ada -H 'Content-Type: application/json' -d '{"amount": 3}'
    curl localhost:8000/orders/ada
"""

import asyncio
import collections
import contextlib
import os
from collections.abc import AsyncIterator

from fastapi import FastAPI, HTTPException
from pydantic import BaseModel

from kafka import AsyncKafkaConsumer, AsyncKafkaProducer
from kafka.errors import KafkaError

SERVERS = os.environ.get("KAFKA_BOOTSTRAP_SERVERS", "localhost:9092")
TOPIC = os.environ.get("KAFKA_TOPIC", "web-orders")


class Order(BaseModel):
    amount: int


async def add_up(consumer: AsyncKafkaConsumer[str, Order], totals: dict[str, int]) -> None:
    async for record in consumer:
        totals[record.key] += record.value.amount


@contextlib.asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    app.state.totals = collections.defaultdict(int)
    app.state.producer = AsyncKafkaProducer(
        bootstrap_servers=SERVERS,
        key_serializer=str.encode,
        value_serializer=lambda order: order.model_dump_json().encode(),
    )
    consumer = AsyncKafkaConsumer(
        TOPIC,
        bootstrap_servers=SERVERS,
        auto_offset_reset="earliest",
        key_deserializer=bytes.decode,
        value_deserializer=Order.model_validate_json,
        on_deserialization_error="skip",  # logs what is not an order, and goes on
    )
    async with app.state.producer, consumer:
        app.state.reading = asyncio.create_task(add_up(consumer, app.state.totals))
        try:
            yield
        finally:
            app.state.reading.cancel()
            await asyncio.wait({app.state.reading})


app = FastAPI(lifespan=lifespan)


@app.post("/orders/{customer}", status_code=202)
async def take(customer: str, order: Order) -> dict[str, int]:
    """Answers once the order cannot be lost any more."""
    try:
        written = await app.state.producer.send_and_wait(TOPIC, order, key=customer)
    except KafkaError as error:
        raise HTTPException(503, "orders cannot be taken at the moment") from error
    return {"partition": written.partition, "offset": written.offset}


@app.get("/orders/{customer}")
async def total(customer: str) -> dict[str, int]:
    return {"total": app.state.totals.get(customer, 0)}


@app.get("/health")
async def health() -> dict[str, object]:
    if app.state.reading.done():
        raise HTTPException(503, f"the consumer has ended: {app.state.reading.exception()}")
    return {"orders": sum(app.state.totals.values())}
