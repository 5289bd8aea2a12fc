"""Tracebacks of an error's causes."""

from __future__ import annotations

import pytest

from kafka.errors import KafkaConnectionError, KafkaTimeoutError
from kafka.net.open_stream import in_brief

pytestmark = pytest.mark.once


def test_errors_in_a_cycle_of_contexts_are_handled() -> None:
    first, second = KafkaTimeoutError("first"), KafkaConnectionError("second")
    first.__context__, second.__context__ = second, first
    assert in_brief(first) is first
    assert (first.__traceback__, second.__traceback__) == (None, None)
