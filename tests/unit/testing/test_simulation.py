"""Seeds of the simulation find no problems and are reproducible, and clients that violate guarantees are detected."""

from __future__ import annotations

import logging
import os
import re
import signal
import subprocess
import sys
import threading
from typing import Any

import pytest

from kafka.consumer import AsyncKafkaConsumer
from kafka.net.buffers import shared_pool
from kafka.testing import run_seed, simulation
from kafka.testing.__main__ import main


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in (3, 4, 5))])
def test_seeds_find_no_problems(seed: int) -> None:
    report = run_seed(seed)
    assert not report.problems, "\n".join(report.story)
    assert report.acknowledged > 0


@pytest.mark.slow
@pytest.mark.once
@pytest.mark.parametrize("limit_s", [5.0, pytest.param(100.0, marks=pytest.mark.exhaustive)])
def test_an_endless_simulation_is_a_problem(limit_s: float, monkeypatch: pytest.MonkeyPatch) -> None:
    class Blind(AsyncKafkaConsumer):
        async def poll(self, *arguments: Any, **options: Any) -> Any:
            await super().poll(*arguments, **options)
            return {}

    monkeypatch.setattr(simulation, "AsyncKafkaConsumer", Blind)
    monkeypatch.setattr(simulation, "LIMIT_S", limit_s)
    assert any("did not end" in problem for problem in run_seed(1).problems)


def program(*arguments: str) -> str:
    """Run the program, and return its output."""
    command = [sys.executable, "-m", "kafka.testing", *arguments]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONHASHSEED"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True, env=environment)
    return done.stdout


@pytest.mark.once
@pytest.mark.exhaustive
def test_a_seed_is_reproducible() -> None:
    story = program("--seed", "1")
    assert re.search(r"^ *\d+\.\d{6} broker-1 +\w", story, flags=re.MULTILINE), "what went wrong is part of it"
    others = program("--seed", "0-1", "--jobs", "1").splitlines()
    assert [line.split(":")[0] for line in others] == ["seed 0", "seed 1"]
    assert others[-1] == story.splitlines()[-1]  # contains a digest of the story


@pytest.mark.slow
@pytest.mark.once
def test_an_interrupt_stops_all_processes_without_a_traceback() -> None:
    command = [sys.executable, "-m", "kafka.testing", "--seed", "1-100000", "--jobs", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("seed 1:")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)  # returns when no process holds the pipes anymore
    assert (process.returncode, errors) == (130, "interrupted\n")


@pytest.mark.slow
@pytest.mark.once
def test_a_seed_does_not_depend_on_what_ran_before() -> None:
    first = [run_seed(seed).story for seed in (4, 6)]
    assert first == [run_seed(seed).story for seed in (4, 6)]


@pytest.mark.slow
@pytest.mark.once
def test_clients_on_other_threads_are_not_logged() -> None:
    is_over = threading.Event()
    held = []

    def live() -> None:
        while not is_over.wait(0.001):
            logging.getLogger("kafka.elsewhere").warning("not of this run")
            held[:] = [*held[-10:], shared_pool.take(12_345)]

    other = threading.Thread(target=live)
    other.start()
    try:
        story = run_seed(1).story
    finally:
        is_over.set()
        other.join()
    assert not [line for line in story if "not of this run" in line or "12345 bytes" in line]


@pytest.mark.once
@pytest.mark.parametrize("seeds", ["x", "1-x", ""])
def test_an_invalid_seed_is_rejected(seeds: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--seed", seeds])
    assert "both whole numbers" in capsys.readouterr().err
