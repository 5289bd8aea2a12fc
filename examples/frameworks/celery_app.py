"""Tasks of Celery that send to Kafka. Celery's prefork pool forks its workers, so each makes a producer of its own.

The producer is made where a worker begins, and closed, which sends the rest, where it ends. A task waits for what it
has sent: it counts as done when the record cannot be lost any more, and is tried again if it could not be sent.

Celery's own queue is a folder here, so that nothing but Kafka has to run.

    pip install kafka-columnar celery
    KAFKA_SERVERS=localhost:9092 celery -A celery_app worker --pool prefork --concurrency 2
    python -c 'from celery_app import announce; announce.delay("ada", 3)'
"""

import os
import tempfile
from typing import Any

from celery import Celery
from celery.signals import worker_process_init, worker_process_shutdown

from kafka import KafkaProducer
from kafka.errors import KafkaError

SERVERS = os.environ.get("KAFKA_SERVERS", "localhost:9092")
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

producer: KafkaProducer[str, str]


@worker_process_init.connect
def begin(**_: Any) -> None:
    global producer
    producer = KafkaProducer(bootstrap_servers=SERVERS, key_serializer=str.encode, value_serializer=str.encode)


@worker_process_shutdown.connect
def end(**_: Any) -> None:
    producer.close(timeout=10)


@app.task(autoretry_for=(KafkaError,), retry_backoff=True, max_retries=10)
def announce(customer: str, amount: int) -> None:
    producer.send(TOPIC, key=customer, value=str(amount)).get(timeout=30)
