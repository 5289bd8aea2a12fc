"""Programs of five generations of kafka-python print here what they printed under the kafka-python of their time."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from harness.generations import Program, programs, run_on
from harness.serving import TodaysBroker

if TYPE_CHECKING:
    from conftest import Broker


@pytest.fixture(scope="module")
def serving_broker(broker: Broker) -> TodaysBroker:
    return TodaysBroker(broker.bootstrap_servers)


@pytest.mark.parametrize("program", programs(), ids=lambda program: program.name)
def test_a_program_prints_what_it_printed_then(program: Program, serving_broker: TodaysBroker, broker: Broker) -> None:
    reason = program.apache_only if broker.kind == "embedded" else program.embedded_only
    if reason:
        pytest.skip(reason)
    assert not program.comparison(run_on(program, sys.executable, serving_broker), ours=True)
