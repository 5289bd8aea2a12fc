"""Seeds of the simulation find nothing, a seed repeats itself, and clients that break their promises are caught."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from typing import Any

import pytest

from kafka.consumer import AsyncKafkaConsumer
from kafka.structs import TopicPartition
from kafka.testing import actors, run_seed, simulation
from kafka.testing.ledger import Ledger
from kafka.testing.simulate import main

TP = TopicPartition("t", 0)


@pytest.mark.parametrize("seed", range(1, 6))
def test_a_seed_finds_no_problem(seed: int) -> None:
    report = run_seed(seed)
    assert not report.problems, "\n".join(report.story)
    assert report.acknowledged > 0


def acknowledged(ledger: Ledger, producer: str, number: int, offset: int) -> str:
    record = ledger.sending(producer, number)
    record.partition, record.offset = TP, offset
    return record.name


def problems(ledger: Ledger, log: list[str], groups: tuple[str, ...] = ()) -> list[str]:
    return ledger.problems({TP: log}, groups, idempotent=True)


def test_what_is_as_promised_is_no_problem() -> None:
    ledger = Ledger()
    log = [acknowledged(ledger, "p", number, number) for number in range(3)]
    ledger.hand_out("g", "m", TP, [0, 1], None)
    ledger.hand_out("g", "m", TP, [2], 2)
    ledger.committed("g", {TP: 3})
    assert problems(ledger, log, ("g",)) == []


def test_an_acknowledged_record_that_is_not_in_the_log_is_a_problem() -> None:
    ledger = Ledger()
    acknowledged(ledger, "p", 0, 0)
    assert "was acknowledged" in problems(ledger, [])[0]


def test_a_record_without_an_outcome_is_a_problem() -> None:
    ledger = Ledger()
    ledger.sending("p", 0)
    assert "neither acknowledged nor failed" in problems(ledger, [])[0]


def test_a_record_that_is_there_twice_is_a_problem() -> None:
    ledger = Ledger()
    name = acknowledged(ledger, "p", 0, 0)
    assert "twice" in problems(ledger, [name, name])[0]


def test_records_out_of_order_are_a_problem() -> None:
    ledger = Ledger()
    log = [acknowledged(ledger, "p", 1, 0), acknowledged(ledger, "p", 0, 1)]
    assert "stands behind" in problems(ledger, log)[0]


def test_a_record_that_was_never_sent_is_a_problem() -> None:
    assert "never sent" in problems(Ledger(), ["stranger"])[0]


def test_records_that_a_group_skips_are_a_problem() -> None:
    ledger = Ledger()
    ledger.hand_out("g", "m", TP, [0, 1], None)
    ledger.hand_out("g", "m", TP, [3], 2)
    assert len(ledger.found) == 2
    ledger.hand_out("h", "n", TP, [0, 2], None)
    assert "gaps" in ledger.found[2]


def test_records_that_a_group_never_reads_are_a_problem() -> None:
    ledger = Ledger()
    log = [acknowledged(ledger, "p", 0, 0)]
    assert "was never given 1 records" in problems(ledger, log, ("g",))[0]


def test_a_commit_beyond_what_was_handed_out_is_a_problem() -> None:
    ledger = Ledger()
    ledger.hand_out("g", "m", TP, [0], None)
    ledger.committed("g", {TP: 2})
    assert "has committed t-0@2" in ledger.found[0]


def test_a_consumer_that_loses_records_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    class Forgetful(AsyncKafkaConsumer):
        async def poll(self, *arguments: Any, **options: Any) -> Any:
            batches = dict(await super().poll(*arguments, **options))
            for tp, records in batches.items():
                batches[tp] = records[:-1] if len(records) > 2 else records
            return batches

    monkeypatch.setattr(actors, "AsyncKafkaConsumer", Forgetful)
    monkeypatch.setattr(simulation, "DRAIN_S", 20.0)
    assert any("after it had read up to" in problem for problem in run_seed(3).problems)


def test_a_simulation_that_does_not_end_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    class Blind(AsyncKafkaConsumer):
        async def poll(self, *arguments: Any, **options: Any) -> Any:
            await super().poll(*arguments, **options)
            return {}

    monkeypatch.setattr(simulation, "AsyncKafkaConsumer", Blind)
    monkeypatch.setattr(simulation, "LIMIT_S", 100.0)
    assert any("did not end" in problem for problem in run_seed(1).problems)


def test_a_seed_tells_the_same_story_again() -> None:
    command = [sys.executable, "-m", "kafka.testing.simulate", "--seed", "9"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONHASHSEED"}
    stories = [
        subprocess.run(command, capture_output=True, text=True, timeout=120, check=True, env=environment).stdout
        for _ in range(2)
    ]
    assert "connections are cut" in stories[0]
    assert stories[0] == stories[1]


@pytest.mark.parametrize("seeds", ["x", "1-x", ""])
def test_a_seed_that_is_no_number_is_refused_in_words(seeds: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--seed", seeds])
    assert "both whole numbers" in capsys.readouterr().err


def test_an_exception_that_nobody_handles_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    class Careless(AsyncKafkaConsumer):
        async def start(self) -> None:
            await super().start()
            asyncio.get_running_loop().call_soon(lambda: 1 // 0)

    monkeypatch.setattr(actors, "AsyncKafkaConsumer", Careless)
    assert any("ZeroDivisionError" in problem for problem in run_seed(1).problems)


def test_a_program_that_fails_is_a_problem_of_its_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(AsyncKafkaConsumer):
        async def poll(self, *arguments: Any, **options: Any) -> Any:
            raise ZeroDivisionError

    monkeypatch.setattr(actors, "AsyncKafkaConsumer", Broken)
    monkeypatch.setattr(simulation, "DRAIN_S", 20.0)
    assert any("ZeroDivisionError" in problem for problem in run_seed(1).problems)
