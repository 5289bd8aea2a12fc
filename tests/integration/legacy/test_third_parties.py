"""Packages that patch kafka-python, or build upon it, with this package in its place: their spans, headers and records.

They are installed in a folder of the cache; each program runs in a process of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from conftest import missing
from harness.pins import PinsError
from harness.third_parties import third_parties_environment

if TYPE_CHECKING:
    from conftest import Broker, MakeTopic

PATIENCE_S = 120
CLIENTS = """
import json, sys
from kafka import KafkaConsumer, KafkaProducer
servers, topic = sys.argv[1:]
def consumer(**options):
    reading = dict(auto_offset_reset="earliest", consumer_timeout_ms=30_000)
    return KafkaConsumer(topic, bootstrap_servers=[servers], **{**reading, **options})
"""
RECORDED = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
spans = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))
def told():
    found = []
    for span in spans.get_finished_spans():
        ids = span.context.trace_id, span.context.span_id, span.parent.span_id if span.parent else None
        found.append([span.name, span.kind.name, dict(span.attributes), *ids])
    spans.clear()
    return found
"""
APM = """
import elasticapm
from elasticapm.instrumentation.packages.kafka import KafkaInstrumentation
from elasticapm.transport.base import Transport
class Kept(Transport):
    events = []
    def queue(self, kind, data, flush=False):
        if kind != "metadata":
            self.events.append([kind, data])
    def start_thread(self, pid=None):
        pass
    def close(self):
        pass
quiet = dict(metrics_interval="0ms", central_config=False, cloud_provider="none", span_compression_enabled=False)
client = elasticapm.Client(service_name="tested", transport_class="__main__.Kept", **quiet)
instrumentation = KafkaInstrumentation()
instrumentation.instrument()
"""


@pytest.fixture(scope="session")
def environment() -> dict[str, str]:
    """The packages, beside ours."""
    try:
        return third_parties_environment()
    except PinsError as error:
        missing(str(error))
        raise


def run(code: str, environment: dict[str, str], *arguments: str, before: tuple[str, ...] = ()) -> Any:
    """Run a program, after the command ``before`` if there is one; gives what it prints last, as JSON."""
    command = [*before, sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_opentelemetry_has_spans_of_both_clients_in_one_trace(
    broker: Broker, make_topic: MakeTopic, environment: dict[str, str]
) -> None:
    code = """
from opentelemetry.instrumentation.kafka import KafkaInstrumentor
hooked = []
KafkaInstrumentor().instrument(
    skip_dep_check=True,
    tracer_provider=provider,
    produce_hook=lambda span, args, kwargs: hooked.append(span.name),
    consume_hook=lambda span, record, args, kwargs: hooked.append(record.value.decode()),
)
with KafkaProducer(bootstrap_servers=[servers]) as producer:
    producer.send(topic, b"plain")
    producer.send(topic, key=b"k", value=b"with headers", headers=[("mine", b"kept")])
with consumer(group_id="traced") as reader:
    records = [next(reader), next(reader)]
    servers_given = reader.config["bootstrap_servers"]
traced = told()
KafkaInstrumentor().uninstrument()
with KafkaProducer(bootstrap_servers=[servers]) as producer:
    producer.send(topic, b"untraced")
with consumer() as reader:
    last = [next(reader) for _ in range(3)][-1]
print(json.dumps({
    "spans": traced, "hooked": hooked, "headers": [[name for name, _ in each.headers] for each in records],
    "traceparent": [dict(each.headers)["traceparent"].decode() for each in records],
    "after": [told(), last.headers], "given": servers_given,
}))
"""
    found = run(CLIENTS + RECORDED + code, environment, broker.bootstrap_servers, topic := make_topic())
    sent, received = found["spans"][:2], found["spans"][2:]
    assert [each[:2] for each in sent] == [[f"{topic} send", "PRODUCER"]] * 2
    assert [each[:2] for each in received] == [[f"{topic} receive", "CONSUMER"]] * 2
    for attributes in (each[2] for each in found["spans"]):
        assert attributes == {
            "messaging.system": "kafka",
            "messaging.destination": topic,
            "messaging.kafka.partition": 0,
            "messaging.url": json.dumps([broker.bootstrap_servers]),
        }
    assert [(each[3], each[5]) for each in received] == [(each[3], each[4]) for each in sent]
    assert found["headers"] == [["traceparent"], ["mine", "traceparent"]]
    assert [int(each.split("-")[1], 16) for each in found["traceparent"]] == [each[3] for each in sent]
    assert found["hooked"] == [f"{topic} send", f"{topic} send", "plain", "with headers"]
    assert found["after"] == [[], []]
    assert found["given"] == [broker.bootstrap_servers]


def test_opentelemetry_instrument_needs_nothing_of_the_user(
    broker: Broker, make_topic: MakeTopic, environment: dict[str, str]
) -> None:
    code = """
trace.set_tracer_provider(provider)
with KafkaProducer(bootstrap_servers=[servers]) as producer:
    producer.send(topic, b"v")
with consumer() as reader:
    next(reader)
print(json.dumps([each[0] for each in told()]))
"""
    start = "from opentelemetry.instrumentation.auto_instrumentation import run; run()"
    command = (sys.executable, "-c", start)
    arguments = broker.bootstrap_servers, make_topic()
    names = run(CLIENTS + RECORDED + code, environment, *arguments, before=command)
    assert names == [f"{arguments[1]} send", f"{arguments[1]} receive"]
    for disabled in ("flask, kafka", "*"):
        without = environment | {"OTEL_PYTHON_DISABLED_INSTRUMENTATIONS": disabled}
        assert run(CLIENTS + RECORDED + code, without, *arguments, before=command) == []


def test_elastic_apm_has_spans_of_send_poll_and_iteration(
    broker: Broker, make_topic: MakeTopic, environment: dict[str, str]
) -> None:
    code = """
with KafkaProducer(bootstrap_servers=[servers]) as producer:
    producer.send(topic, b"outside of a transaction").get(timeout=60)
    client.begin_transaction("task")
    producer.send(topic, b"one").get(timeout=60)
    producer.send(topic=topic, value=b"two", headers=[("mine", b"kept")]).get(timeout=60)
    client.end_transaction("sending")
with consumer() as reader:
    client.begin_transaction("task")
    polled = reader.poll(30_000, max_records=1)
    records = [next(reader), next(reader)]
    client.end_transaction("reading")
print(json.dumps({
    "events": Kept.events, "polled": sum(map(len, polled.values())),
    "headers": [[name for name, _ in each.headers] for each in records],
}))
"""
    found = run(CLIENTS + APM + code, environment, broker.bootstrap_servers, topic := make_topic())
    spans = [each for kind, each in found["events"] if kind == "span"]
    names = [f"Kafka SEND to {topic}"] * 2 + [f"Kafka POLL from {topic}"] + [f"Kafka RECEIVE from {topic}"] * 2
    assert [each["name"] for each in spans] == names
    assert {each["outcome"] for each in spans} == {"success"}
    host, _, port = broker.bootstrap_servers.rpartition(":")
    for sent in spans[:2]:
        assert sent["context"]["message"] == {"queue": {"name": topic}}
        place = sent["context"]["destination"]
        assert (place["address"], place["port"]) == (host, int(port))
    links = [each["links"][0]["span_id"] for each in spans[3:]]
    assert links == [each["id"] for each in spans[:2]]
    assert found["polled"] == 1
    assert found["headers"] == [["elasticapmtraceparent"], ["mine", "elasticapmtraceparent"]]


def test_elastic_apm_makes_a_transaction_of_each_record(
    broker: Broker, make_topic: MakeTopic, environment: dict[str, str]
) -> None:
    code = """
with KafkaProducer(bootstrap_servers=[servers]) as producer:
    client.begin_transaction("task")
    for value in b"one", b"two":
        producer.send(topic, value)
    client.end_transaction("sending")
    producer.flush()
    sent = list(Kept.events)
    Kept.events.clear()
    with consumer() as reader:
        for record in reader:
            elasticapm.label(value=record.value.decode())
            if record.value == b"two":
                break
        client.end_transaction()
        received = list(Kept.events)
        instrumentation.uninstrument()
        Kept.events.clear()
        client.begin_transaction("task")
        producer.send(topic, b"three")
        last = next(reader)
        client.end_transaction("untraced")
print(json.dumps({"sent": sent, "received": received, "after": [len(Kept.events), last.headers]}))
"""
    found = run(CLIENTS + APM + code, environment, broker.bootstrap_servers, topic := make_topic())
    spans = [each for kind, each in found["sent"] if kind == "span"]
    received = [each for kind, each in found["received"] if kind == "transaction"]
    assert [each["name"] for each in received] == [f"Kafka RECEIVE from {topic}"] * 2
    assert [each["context"]["tags"] for each in received] == [{"value": "one"}, {"value": "two"}]
    assert [(each["trace_id"], each["parent_id"]) for each in received] == [
        (each["trace_id"], each["id"]) for each in spans
    ]
    assert all(each["context"]["message"]["age"]["ms"] >= 0 for each in received)
    assert found["after"] == [1, []]


def test_the_records_of_a_logging_handler_arrive(
    broker: Broker, make_topic: MakeTopic, environment: dict[str, str]
) -> None:
    code = """
import logging, multiprocessing, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # the handler's own, of Python's threads and times
from kafka_logger.handlers import KafkaLoggingHandler
handler = KafkaLoggingHandler(
    [servers], topic, security_protocol="PLAINTEXT", kafka_producer_args={"api_version_auto_timeout_ms": 100_000},
    additional_fields={"service": "shop"}, flush_buffer_size=3, flush_interval=600,
)
root = logging.getLogger()
root.setLevel(logging.INFO)  # what the clients log goes through it too
root.addHandler(handler)
shop = logging.getLogger("shop")
shop.info("sold %d of %s", 3, "apples")
try:
    {}["price"]
except KeyError:
    shop.exception("no price")
def sell():
    shop.warning("in a child")
child = multiprocessing.get_context("fork").Process(target=sell)
child.start()
child.join()
"""  # it ends without a flush: the handler's exit hook sends what is left
    arguments = broker.bootstrap_servers, make_topic()
    run(CLIENTS + code + "\nprint('null')", environment, *arguments)
    code = """
found = []
with consumer(value_deserializer=json.loads) as reader:
    for record in reader:
        if record.value["name"] == "shop":
            found.append(record.value)
        if len(found) == 3:
            break
print(json.dumps(found))
"""
    found = run(CLIENTS + code, environment, *arguments)
    assert {each["service"] for each in found} == {"shop"}
    by_text = {each["message"] if "message" in each else each["msg"]: each for each in found}
    assert set(by_text) == {"sold 3 of apples", "no price", "in a child"}
    assert "KeyError: 'price'" in by_text["no price"]["exc_text"]
    assert by_text["in a child"]["levelname"] == "WARNING"
