"""Listeners of the consumer's parts, made of functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kafka.consumer.buffer.partition_state import PartitionState


def ignore(*_: Any) -> None:
    """Do nothing."""


def deny(*_: Any) -> bool:
    """Answer no."""
    return False


@dataclass
class BufferCalls:
    """A `BufferListener`."""

    unblocked: Callable[[PartitionState], None] = ignore
    position_out_of_range: Callable[[PartitionState], None] = ignore
    topic_replaced: Callable[[PartitionState], None] = ignore
    is_topic_replaced: Callable[[PartitionState], bool] = deny


@dataclass
class FetchCalls:
    """A `FetchListener`."""

    data_arrived: Callable[[], None]
    metadata_stale: Callable[[], None]
    fetch_failed: Callable[[Exception], None]
    diverged: Callable[[Any], None]
    is_reassigned: Callable[[], bool]
    is_believed: Callable[[str], bool]
