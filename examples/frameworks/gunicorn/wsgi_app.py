"""A WSGI application that gunicorn loads once, before it forks its workers (`preload_app`).

`gunicorn.conf.py` beside it has each worker make a producer after the fork, and close it before the worker ends.

    pip install kafka-columnar gunicorn
    KAFKA_BOOTSTRAP_SERVERS=localhost:9092 gunicorn --config gunicorn.conf.py wsgi_app:app
    curl -d 'three apples' localhost:8000/ada
"""

import json
import os
from collections.abc import Callable, Iterable
from typing import Any

from kafka import KafkaProducer
from kafka.errors import KafkaError

SERVERS = os.environ.get("KAFKA_BOOTSTRAP_SERVERS", "localhost:9092")
TOPIC = os.environ.get("KAFKA_TOPIC", "orders")

producer: KafkaProducer[str, bytes]


def begin() -> None:
    """In each worker, after the fork."""
    global producer
    producer = KafkaProducer(bootstrap_servers=SERVERS, key_serializer=str.encode)


def end() -> None:
    """In each worker that goes; sends what is left."""
    producer.close(timeout=10)


def app(environ: dict[str, Any], start_response: Callable[..., object]) -> Iterable[bytes]:
    """Send what is posted, and answer once it cannot be lost any more."""
    body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    try:
        written = producer.send(TOPIC, body, key=environ["PATH_INFO"].lstrip("/")).get(timeout=30)
    except KafkaError as error:
        start_response("503 Service Unavailable", [("Content-Type", "text/plain")])
        return [f"cannot be taken at the moment: {error}\n".encode()]
    start_response("202 Accepted", [("Content-Type", "application/json")])
    return [json.dumps({"offset": written.offset, "pid": os.getpid()}).encode()]
