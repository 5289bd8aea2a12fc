"""The Litestar application: orders, totals, a broker that is not there, and SIGTERM while requests come in."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING

import httpx

from harness.framework_programs import PATIENCE_S, Start, check_quiet_end, url_of, values_of

if TYPE_CHECKING:
    from conftest import Broker, MakeTopic

FRAMEWORK = "litestar"
SERVE = ("-m", "uvicorn", "--port", "0", "litestar_app:app")


def test_orders_are_taken_and_added_up(broker: Broker, make_topic: MakeTopic, start: Start) -> None:
    topic = make_topic()
    server = start(*SERVE, KAFKA_BOOTSTRAP_SERVERS=broker.bootstrap_servers, KAFKA_TOPIC=topic)
    with httpx.Client(base_url=url_of(server), timeout=PATIENCE_S) as client:
        for number in range(1, 5):
            answer = client.post("/orders/ada", json={"amount": number})
            assert (answer.status_code, answer.json()) == (202, {"partition": 0, "offset": number - 1})
        assert client.post("/orders/ada", json={"amount": "many"}).status_code == 400
        while client.get("/orders/ada").json() != {"total": 10}:  # the test's own time limit ends this
            assert client.get("/health").status_code == 200
        assert client.get("/health").json() == {"orders": 10}
    check_quiet_end(server)
    found = values_of(broker.bootstrap_servers, topic, 4)
    assert [json.loads(value or b"") for _, value in found] == [{"amount": number} for number in range(1, 5)]


def test_each_confirmed_order_is_kept_if_the_service_is_stopped_meanwhile(
    broker: Broker, make_topic: MakeTopic, start: Start
) -> None:
    topic = make_topic()
    server = start(*SERVE, KAFKA_BOOTSTRAP_SERVERS=broker.bootstrap_servers, KAFKA_TOPIC=topic)
    url = url_of(server)
    confirmed: list[int] = []
    under_way = threading.Event()

    def ask() -> None:
        with httpx.Client(base_url=url, timeout=PATIENCE_S) as client:
            for number in range(100_000):
                try:
                    answer = client.post("/orders/ada", json={"amount": number})
                except httpx.TransportError:  # the server has closed its socket
                    return
                assert answer.status_code == 202
                confirmed.append(number)
                if number == 20:
                    under_way.set()

    asking = threading.Thread(target=ask)
    asking.start()
    assert under_way.wait(PATIENCE_S)
    check_quiet_end(server)
    asking.join()
    found = values_of(broker.bootstrap_servers, topic, len(confirmed))
    assert {json.loads(value or b"")["amount"] for _, value in found} >= set(confirmed)


def test_a_missing_broker_ends_the_start_with_a_clear_error(nobody: str, start: Start) -> None:
    server = start(*SERVE, KAFKA_BOOTSTRAP_SERVERS=nobody)
    assert server.finish(PATIENCE_S) == 3, server.output()[-2000:]  # uvicorn's status for a failed start
    assert nobody in server.output()
    assert "Application startup failed" in server.output()
