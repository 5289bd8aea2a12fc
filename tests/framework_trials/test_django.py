"""The Django shop: preloaded by gunicorn, rolled back, without a broker, stopped in the middle, and forked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from harness.framework_programs import EXAMPLES, PATIENCE_S, Start, check_quiet_end, run, url_of, values_of
from kafka import KafkaConsumer, KafkaProducer, TopicPartition

if TYPE_CHECKING:
    from conftest import Broker, MakeTopic

FRAMEWORK = "django"
SHOP = EXAMPLES / "django_shop"
SERVE = ("-m", "gunicorn", "--preload", "--workers", "2", "--bind", "127.0.0.1:0", "shop.wsgi:application")
FORKING = """
from shop.models import Order
def take(customer):
    Order.objects.create(customer=customer, amount=1)
take("parent")
child = os.fork()
if child == 0:
    take("child")
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
take("parent, again")
"""


@pytest.fixture
def shop(python: Path, tmp_path: Path) -> dict[str, str]:
    """Variables of a shop with an empty database."""
    variables = {"DJANGO_DATABASE": str(tmp_path / "shop.sqlite3"), "DJANGO_SETTINGS_MODULE": "shop.settings"}
    done = run(python, "manage.py", "migrate", "--no-input", cwd=SHOP, **variables)
    assert done.returncode == 0, done.stderr
    return variables


def test_the_migrations_match_the_models(python: Path, shop: dict[str, str]) -> None:
    done = run(python, "manage.py", "makemigrations", "--check", "--dry-run", cwd=SHOP, **shop)
    assert done.returncode == 0, done.stdout
    done = run(python, "manage.py", "check", "--fail-level", "WARNING", cwd=SHOP, **shop)
    assert done.returncode == 0, done.stderr


def test_orders_go_through_the_topic(broker: Broker, make_topic: MakeTopic, start: Start, shop: dict[str, str]) -> None:
    topic = make_topic()
    shop |= {"KAFKA_BOOTSTRAP_SERVERS": broker.bootstrap_servers, "KAFKA_TOPIC": topic, "KAFKA_GROUP": topic}
    server = start(*SERVE, cwd=SHOP, **shop)
    readers = [
        start("manage.py", "read_orders", cwd=SHOP, **shop | {"KAFKA_GROUP": group}) for group in (topic, f"{topic}-2")
    ]  # another group reads everything again
    with httpx.Client(base_url=url_of(server), timeout=PATIENCE_S) as client:
        for amount in range(1, 11):
            assert client.post(f"/orders/ada/{amount}").status_code == 201
        assert client.post("/orders/ada/0").status_code == 400
        assert client.post("/orders/ada/2000").status_code == 409
        while client.get("/orders/ada").json() != {"total": 55}:  # the test's own time limit ends this
            assert all(each.running() for each in readers), [each.output() for each in readers]
        for each in readers:
            assert each.wait_for("reading orders", PATIENCE_S)
            check_quiet_end(each)
            assert each.output().endswith("stopped\n")
        assert client.get("/orders/ada").json() == {"total": 55}
    check_quiet_end(server)
    found = sorted(json.loads(value or b"")["amount"] for _, value in values_of(broker.bootstrap_servers, topic, 10))
    assert found == list(range(1, 11))
    with KafkaConsumer(bootstrap_servers=broker.bootstrap_servers) as consumer:
        assert list(consumer.end_offsets([TopicPartition(topic, 0)]).values()) == [10], "rolled back, but sent"


def test_a_consumer_that_is_stopped_in_the_middle_continues(
    broker: Broker, make_topic: MakeTopic, python: Path, start: Start, shop: dict[str, str]
) -> None:
    topic = make_topic(partitions=2)
    count = 20_000
    shop |= {"KAFKA_BOOTSTRAP_SERVERS": broker.bootstrap_servers, "KAFKA_TOPIC": topic, "KAFKA_GROUP": topic}
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for number in range(count):
            producer.send(topic, json.dumps({"number": number, "amount": 1}).encode(), key=b"%d" % (number % 7))
    counting = "from shop.models import ReceivedOrder; print(ReceivedOrder.objects.count())"

    def stored() -> int:
        done = run(python, "manage.py", "shell", "--no-imports", "-c", counting, cwd=SHOP, **shop)
        assert done.returncode == 0, done.stderr
        return int(done.stdout)

    for stop in "kill", "stop":
        reader = start("manage.py", "read_orders", cwd=SHOP, **shop)
        assert reader.wait_for("reading orders", PATIENCE_S), reader.output()
        if stop == "kill":
            reader.kill()
        else:
            check_quiet_end(reader)
        assert stored() <= count
    reader = start("manage.py", "read_orders", cwd=SHOP, **shop)
    while stored() < count:
        assert reader.running(), reader.output()
    check_quiet_end(reader)
    assert stored() == count


def test_orders_are_announced_later_if_there_is_no_broker(
    broker: Broker, make_topic: MakeTopic, python: Path, start: Start, shop: dict[str, str], nobody: str
) -> None:
    topic = make_topic()
    shop["KAFKA_TOPIC"] = topic
    server = start(*SERVE, cwd=SHOP, **shop | {"KAFKA_BOOTSTRAP_SERVERS": nobody})
    assert httpx.post(f"{url_of(server)}/orders/ada/3", timeout=PATIENCE_S).status_code == 201
    assert "order 1 is announced later, by manage.py announce_orders" in server.output()
    check_quiet_end(server)

    for command, error in ("read_orders", nobody), ("announce_orders", "not all 1 orders could be announced"):
        done = run(python, "manage.py", command, cwd=SHOP, **shop | {"KAFKA_BOOTSTRAP_SERVERS": nobody})
        assert done.returncode == 1
        assert error in done.stderr
        assert nobody in done.stderr
        assert "Traceback" not in done.stderr
    for announced in 1, 0:
        done = run(
            python,
            "manage.py",
            "announce_orders",
            cwd=SHOP,
            **shop | {"KAFKA_BOOTSTRAP_SERVERS": broker.bootstrap_servers},
        )
        assert done.stdout == f"{announced} orders announced\n", done.stderr
    assert values_of(broker.bootstrap_servers, topic, 1) == [(b"ada", b'{"number": 1, "amount": 3}')]


def test_a_process_that_forks_after_sending_still_sends(
    broker: Broker, make_topic: MakeTopic, python: Path, shop: dict[str, str]
) -> None:
    topic = make_topic()
    shop |= {"KAFKA_BOOTSTRAP_SERVERS": broker.bootstrap_servers, "KAFKA_TOPIC": topic}
    done = run(python, "manage.py", "shell", "--no-imports", "-c", FORKING, cwd=SHOP, **shop)
    assert done.returncode == 0, done.stderr
    assert "later" not in done.stderr
    found = [key for key, _ in values_of(broker.bootstrap_servers, topic, 3)]
    assert found == [b"child", b"parent", b"parent, again"]
