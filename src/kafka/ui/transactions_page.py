"""The page for transactions: all transactional ids with their producers and states, and how long each is open."""

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from kafka.admin import TransactionState
from kafka.display.page_elements import UNKNOWN, Html, html, joined, link
from kafka.display.page_elements import time as time_text
from kafka.display.time_axis import duration_text
from kafka.errors import KafkaError, error_text
from kafka.ui.asked import asked_page
from kafka.ui.page_frame import trouble
from kafka.ui.shared_state import Ui
from kafka.ui.states import Level, state
from kafka.ui.tables import Column, Columns, Hiding, Table, long_name

_OPEN = ("ONGOING", "PREPARE_COMMIT", "PREPARE_ABORT", "PREPARE_EPOCH_FENCE")
_LEVELS: dict[str, Level] = {"COMPLETE_COMMIT": "good", "ONGOING": "warn", "COMPLETE_ABORT": "off", "EMPTY": "off"}
_MOST_DESCRIBED = 200
"""Maximum number of open transactions whose start is read."""


class _Row(NamedTuple):
    """A transactional id.

    Arguments:
        start_ms: when the open transaction started, in milliseconds since 1970; None if none is open.
        topics: the topics to which the open transaction has written.
        is_overdue: whether it is open for longer than its timeout.
    """

    name: str
    producer: int
    coordinator: int
    state: TransactionState
    start_ms: int | None = None
    topics: tuple[str, ...] = ()
    is_overdue: bool = False


async def transactions_page(ui: Ui) -> Html:
    """Return the page that lists the transactions."""
    return await asked_page(ui, "Transactions", "/transactions", lambda: _transactions(ui))


async def _transactions(ui: Ui) -> Html:
    rows, failed = await _rows(ui)
    table = Table(
        "Transactions",
        _columns(),
        lambda each: f"{each.name} {each.state.name.replace('_', ' ')} {' '.join(each.topics)}",
        (
            Hiding[_Row](
                "closed", "ids without an open transaction", lambda each: each.start_ms is None, is_hidden=False
            ),
        ),
        sort="-open-for",
        empty="No producer has used a transactional id recently.",
    )
    return joined([*map(trouble, failed), *([table.html(rows)] if rows or not failed else [])])


async def _rows(ui: Ui) -> tuple[list[_Row], list[str]]:
    """Return the transactional ids, and a message for each coordinator that failed."""
    listed: Mapping[int, Any] = await ui.admin.list_transactions(raise_errors=False)
    failed = [f"broker {node}: {error_text(each)}" for node, each in listed.items() if isinstance(each, KafkaError)]
    rows = {
        each.transactional_id: _Row(each.transactional_id, each.producer_id, node, each.state)
        for node, found in listed.items()
        if not isinstance(found, KafkaError)
        for each in found
    }
    is_open = [name for name, each in rows.items() if each.state.name in _OPEN][:_MOST_DESCRIBED]
    described: Mapping[str, object] = (
        await ui.admin.describe_transactions(is_open, raise_errors=False) if is_open else {}
    )
    now_ms = time.time() * 1000
    for name, each in described.items():
        start = getattr(each, "transaction_start_time_ms", -1)
        if start >= 0:
            topics = tuple(sorted({tp.topic for tp in getattr(each, "topic_partitions", ())}))
            is_overdue = now_ms - start > getattr(each, "transaction_timeout_ms", 0)
            rows[name] = rows[name]._replace(start_ms=start, topics=topics, is_overdue=is_overdue)
    return list(rows.values()), failed


def _text(row: _Row) -> str:
    return f"{row.name} {row.state.name.replace('_', ' ')} {' '.join(row.topics)}"


def _columns() -> Columns[_Row]:
    return (
        Column("transactional id", lambda each: long_name(each.name), lambda each: each.name),
        Column("state", _state, lambda each: each.state.name),
        Column("open for", _open_for, lambda each: None if each.start_ms is None else -each.start_ms, is_number=True),
        Column("started", lambda each: UNKNOWN if each.start_ms is None else time_text(each.start_ms)),
        Column(
            "topics", lambda each: joined((long_name(link(topic, "/topic", name=topic)) for topic in each.topics), " ")
        ),
        Column("producer id", lambda each: each.producer, lambda each: each.producer, is_number=True),
        Column("coordinator", lambda each: each.coordinator, lambda each: each.coordinator, is_number=True),
    )


def _state(row: _Row) -> Html:
    word = row.state.name.replace("_", " ").capitalize()
    if row.is_overdue:
        return state("bad", f"{word}, overdue", "It is open for longer than the timeout of its producer.")
    return state(_LEVELS.get(row.state.name, "off"), word)


def _open_for(row: _Row) -> Html:
    if row.start_ms is None:
        return html("{}", UNKNOWN)
    return html("{}", duration_text(max(0.0, time.time() - row.start_ms / 1000)))
