"""``kafka ui`` in a browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.chromium import open_page
from harness.web_ui import web_ui
from kafka import KafkaProducer
from kafka.broker import EmbeddedBroker

pytestmark = [pytest.mark.integration, pytest.mark.once]

HOSTILE = "<img src=x onerror=document.title='taken'><script>document.title='taken'</script>"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A page about a cluster with a topic "orders"."""
    with EmbeddedBroker() as broker:
        with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
            producer.send("orders", HOSTILE.encode(), key=HOSTILE.encode(), headers=[(HOSTILE, HOSTILE.encode())])
            for number in range(20):
                producer.send("orders", json.dumps({"number": number}).encode(), key=b"order %d" % number)
        with web_ui("--interval", "0.5", "-b", broker.bootstrap_servers) as ui:
            yield ui.address


def test_a_page_follows_the_cluster(chromium: Path, address: str) -> None:
    page = open_page(chromium, address, ready="document.body.innerText.includes('0 records/s')")
    assert page.title.startswith("Topics")
    assert "orders" in page.text
    assert "records/s" in page.text
    assert page.errors == []
    assert all(each.startswith(address) for each in page.requests)


def test_hostile_messages_are_text(chromium: Path, address: str) -> None:
    for path in ("messages?topic=orders", "message?topic=orders&partition=0&offset=0"):
        page = open_page(chromium, f"{address}{path}", dark=True)
        assert HOSTILE in page.text
        assert page.title.startswith("Message")
        assert page.errors == []


def test_it_works_without_scripts_and_on_a_phone(chromium: Path, address: str) -> None:
    search = f"{address}messages?topic=orders&key=order+1&exact=1"
    page = open_page(chromium, search, scripts=False, width=360, height=640)
    assert '{"number": 1}' in page.text
    assert "1 found" in page.text
    assert page.errors == []
    targets = "[...document.querySelectorAll('main a, main button')].map((each) => each.getBoundingClientRect())"
    large = f"{targets}.every((box) => !box.width || (box.width >= 24 && box.height >= 24))"
    fits = "[...document.querySelectorAll('.wide, pre.dump')].every((each) => each.scrollWidth <= each.clientWidth)"
    ready = f"document.documentElement.scrollWidth <= innerWidth && {large} && {fits}"
    hex_dump = "message?topic=orders&partition=0&offset=0&as=hex"
    for path in ("messages?topic=orders&most=2", "topic?name=orders", hex_dump):
        open_page(chromium, f"{address}{path}", ready=ready, width=360, height=640, timeout_s=60)
