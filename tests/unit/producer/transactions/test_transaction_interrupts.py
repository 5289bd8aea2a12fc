"""Ctrl-C within the calls of transactions: the state is right, and the call can be made again."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

import pytest

from kafka import KafkaProducer
from kafka.broker import EmbeddedBroker
from kafka.producer.transactions.state_machine import TransactionState
from kafka.structs import OffsetAndMetadata, TopicPartition
from unit.interrupt import PACKAGE, interrupts

PATHS = [
    os.path.join(PACKAGE, *part)
    for part in (
        ("producer", "_sync", "transaction_calls.py"),
        ("producer", "runners.py"),
        ("net", "loop_thread.py"),
        ("net", "loop_call.py"),
    )
]
pytestmark = [
    pytest.mark.once,
    pytest.mark.filterwarnings("ignore:coroutine .* was never awaited"),
]
OFFSETS = {TopicPartition("t", 0): OffsetAndMetadata(1, "", -1)}
STATES = {
    "begin_transaction": (TransactionState.READY, TransactionState.OPEN),
    "send_offsets_to_transaction": (TransactionState.OPEN, TransactionState.OPEN),
    "commit_transaction": (TransactionState.OPEN, TransactionState.READY),
    "abort_transaction": (TransactionState.OPEN, TransactionState.READY),
    "prepare_transaction": (TransactionState.OPEN, TransactionState.PREPARED),
}
"""Where the producer stands before and after each call."""


@pytest.fixture
def producer() -> Iterator[KafkaProducer]:
    with (
        EmbeddedBroker() as broker,
        KafkaProducer(bootstrap_servers=broker.bootstrap_servers, transactional_id="x") as producer,
    ):
        producer.init_transactions()
        yield producer


@pytest.mark.slow
@pytest.mark.parametrize("call", STATES)
def test_a_call_interrupted_anywhere_can_be_repeated(producer: KafkaProducer, call: str) -> None:
    before, after = STATES[call]
    arguments: tuple[Any, ...] = (OFFSETS, "g") if call == "send_offsets_to_transaction" else ()

    def prepared() -> None:
        if producer.transaction_state is TransactionState.READY and before is TransactionState.OPEN:
            producer.begin_transaction()
            producer.send("t", b"v").get(30)

    def ended() -> None:
        if producer.transaction_state is not TransactionState.READY:
            producer.commit_transaction()

    def once() -> None:
        prepared()
        getattr(producer, call)(*arguments)
        ended()

    points = 0
    for interrupt in interrupts(once, *PATHS):
        prepared()
        with contextlib.suppress(KeyboardInterrupt), interrupt:
            getattr(producer, call)(*arguments)
        if producer.transaction_state is before and before is not after:
            getattr(producer, call)(*arguments)  # it had not begun
        elif producer.transaction_state is not after:
            getattr(producer, call)(*arguments)  # it goes on, and this waits for it
        assert producer.transaction_state is after, interrupt.where
        ended()
        points += 1
    assert points > 5


def test_an_id_request_interrupted_anywhere_can_be_repeated() -> None:
    with EmbeddedBroker() as broker:

        def made() -> KafkaProducer:
            return KafkaProducer(bootstrap_servers=broker.bootstrap_servers, transactional_id="y")

        with made() as first:
            found = interrupts(first.init_transactions, *PATHS)
            for interrupt in found:
                with made() as producer:
                    with contextlib.suppress(KeyboardInterrupt), interrupt:
                        producer.init_transactions()
                    if producer.transaction_state is not TransactionState.READY:
                        producer.init_transactions()
                    with producer.transaction():
                        producer.send("t", b"v")
