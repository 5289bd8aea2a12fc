"""Tasks of Celery that send to Kafka. Celery's prefork pool forks its workers, so each makes a producer of its own.

A worker process makes its producer when its first task needs it, and closes it where it ends. It does not do so while
it starts, because Celery replaces a process that takes more than four seconds to start, as it would without a broker.
A task waits for what it has sent: it counts as done when the record cannot be lost any more, and is tried again if it
could not be sent.

Celery's own queue is a folder here, so that nothing but Kafka has to run.

    pip install kafka-columnar celery
    KAFKA_BOOTSTRAP_SERVERS=localhost:9092 celery -A celery_app worker --pool prefork --concurrency 2
    python -c 'from celery_app import announce; announce.delay("ada", 3)'
"""

import functools
import os
import tempfile
from typing import Any

from celery import Celery
from celery.signals import worker_process_init, worker_process_shutdown

from kafka import KafkaProducer
from kafka.errors import KafkaError

SERVERS = os.environ.get("KAFKA_BOOTSTRAP_SERVERS", "localhost:9092")
TOPIC = os.environ.get("KAFKA_TOPIC", "orders")
FOLDER = os.environ.get("CELERY_FOLDER", os.path.join(tempfile.gettempdir(), "celery-tasks"))

os.makedirs(FOLDER, exist_ok=True)
app = Celery("celery_app", broker="filesystem://")
app.conf.broker_transport_options = {
    "data_folder_in": FOLDER,
    "data_folder_out": FOLDER,
    "control_folder": os.path.join(FOLDER, "control"),
}
app.conf.task_acks_late = True  # a task whose worker dies is run again


@functools.cache
def producer() -> KafkaProducer[str, str]:
    return KafkaProducer(bootstrap_servers=SERVERS, key_serializer=str.encode, value_serializer=str.encode)


@worker_process_init.connect
def begin(**_: Any) -> None:
    producer.cache_clear()  # if the process that forked has one, it belongs to that process


@worker_process_shutdown.connect
def end(**_: Any) -> None:
    if producer.cache_info().currsize:
        producer().close(timeout=10)


@app.task(autoretry_for=(KafkaError,), retry_backoff=True, max_retries=10)
def announce(customer: str, amount: int) -> None:
    producer().send(TOPIC, key=customer, value=str(amount)).get(timeout=30)
