"""Jobs in helper threads: their results come in order, each once, even after errors."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

import pytest

from kafka.net.helper_threads import processors, results_in_order


@pytest.mark.parametrize("helpers", [0, 1, 3])
@pytest.mark.parametrize("count", [0, 1, 2, 4, 7])
def test_results_come_in_the_order_of_the_jobs(helpers: int, count: int) -> None:
    def job(number: int) -> Callable[[], int]:
        return lambda: number

    assert list(results_in_order(map(job, range(count)), helpers)) == list(range(count))


def test_the_next_job_runs_while_the_caller_does_the_first() -> None:
    both = threading.Barrier(2, timeout=10)

    def job() -> str:
        both.wait()  # both jobs must run at the same time
        return threading.current_thread().name

    names = list(results_in_order([job, job], 1))
    assert names == [threading.current_thread().name, "kafka-helper"]


def test_no_job_starts_early_without_helpers() -> None:
    done: list[int] = []
    results = results_in_order([lambda: done.append(1), lambda: done.append(2)], 0)
    next(results)
    assert done == [1]


def test_an_error_of_a_job_is_raised_in_its_turn() -> None:
    def fail() -> int:
        raise ValueError("no")

    results = results_in_order([lambda: 1, fail, lambda: 3], 2)
    assert next(results) == 1
    with pytest.raises(ValueError, match="no"):
        next(results)
    assert list(results) == []


def test_the_caller_runs_all_jobs_if_no_thread_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    here = threading.current_thread()
    assert list(results_in_order([threading.current_thread] * 3, 2)) == [here] * 3


def test_there_is_at_least_one_processor() -> None:
    assert processors() >= 1


def test_one_processor_is_assumed_if_the_system_reports_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert processors() == 1
