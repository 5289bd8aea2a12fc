"""The Spark program of docs/index.md runs on JSON records, and shows a sum for each customer."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

from kafka import KafkaProducer
from kafka.broker import EmbeddedBroker

from .spark_support import spark

__all__ = ["spark"]

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

FRONT_PAGE = Path(__file__).resolve().parents[3] / "docs" / "index.md"
ORDERS = (
    b'{"customer": "ada", "amount": 3}',
    b'{"customer": "bob", "amount": 5}',
    b'{"customer": "ada", "amount": 4}',
)


def program() -> str:
    """The program below the heading "A Spark job"."""
    found = re.search(r"^## A Spark job\n```python\n(.*?)^```", FRONT_PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def test_the_spark_program_of_the_front_page_adds_up(spark: Any) -> None:
    with EmbeddedBroker() as broker:
        with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
            for order in ORDERS:
                producer.send("orders", order)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(program().replace("localhost:9092", broker.bootstrap_servers), "index.md", "exec"), {})
    rows = dict(re.findall(r"^\|\s*(\w+)\|\s*(\d+)\|$", printed.getvalue(), re.MULTILINE))
    assert rows == {"ada": "7", "bob": "5"}
