"""The sink that delivers exactly once, on a standalone cluster of two workers, while what it needs is killed.

A seed says which query runs, which process is killed, and where another one, or the same, stands at that moment
(`harness.kill_points`). Each start of the query has another spark.sql.shuffle.partitions.
"""

from __future__ import annotations

import json
import os
import random
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.apache import ApacheKafka
from harness.kill_points import KillPoint
from harness.spark_cluster import Standalone
from harness.topics import create_topic
from kafka.spark import transactions
from kafka.spark.exactly_once.decision import numbers_in

from .kill_program import Run
from .kill_support import (
    LIMIT_S,
    PARTITIONS,
    SETTINGS,
    Driver,
    Kill,
    executor_of,
    faults,
    kill_of,
    kill_process,
    produce_ids,
    seen_by_readers,
)
from .trial_support import CLUSTER

IDS = 2_500
ROWS_A_BATCH = 550
SEEDS = range(1, 21)
RELEASES = ("4.3.1", "3.9.2")
MOST_STARTS = 6
POLL_S = 0.05
GIVES_UP = ("TransactionLostError", "ReplayDiffersError", "PrefixInUseError", "SecondWriteError")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> Iterator[Standalone]:
    with Standalone(tmp_path_factory.mktemp("standalone")) as running:
        yield running


@pytest.fixture(scope="module")
def driver(cluster, tmp_path_factory) -> Iterator[Driver]:
    settings = {**CLUSTER, **SETTINGS, "spark.master": cluster.url}
    made = Driver(tmp_path_factory.mktemp("driver"), settings, cluster.worker_pids)
    yield made
    made.end()


@pytest.fixture(scope="module", params=RELEASES)
def kafka(request, tmp_path_factory) -> Iterator[ApacheKafka]:
    """4.3 has transactions of version 2, 3.9 of version 1."""
    folder = tmp_path_factory.mktemp(f"kafka-{request.param}")
    properties = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000"}
    with ApacheKafka(folder, version=request.param, properties=properties) as running:
        yield running


def make_topics(kafka: ApacheKafka, stem: str, *, some_twice: bool, ids: int = IDS) -> tuple[str, str]:
    source, target = f"{stem}-source", f"{stem}-target"
    for topic in (source, target):
        create_topic(kafka.bootstrap_servers, topic, PARTITIONS)
    produce_ids(kafka.bootstrap_servers, source, ids, some_twice=some_twice)
    return source, target


@pytest.mark.parametrize("number", SEEDS)
def test_each_id_is_seen_once_and_in_order_whatever_is_killed(kafka, driver, tmp_path, number, capsys):
    seed = number + 100 * RELEASES.index(kafka.version)
    kill = kill_of(seed)
    source, target = make_topics(kafka, f"seed-{seed}", some_twice=kill.kind != "stateless")
    point = KillPoint(tmp_path / "points", kill.point, kill.time_number)
    killed, errors, starts = False, [], 0
    while True:
        starts += 1
        assert starts <= MOST_STARTS, errors
        run = run_of(kafka, kill.kind, source, target, tmp_path, point, kill.shuffle_partitions[starts - 1])
        driver.ask(run)
        if not killed:
            killed, told = kill_at(point, kill, seed, driver, kafka)
        else:
            told = driver.answer()
        assert told is not None, "the query has not ended"
        if told["error"] is None:
            break
        errors.append(told["error"][:1_500])
    assert killed, f"nothing came to {kill.point} for the {kill.time_number}th time"
    assert not [text for text in errors if any(each in text for each in GIVES_UP)], errors
    wrong = faults(seen_by_readers(kafka.bootstrap_servers, target), IDS)
    note(capsys, seed=seed, kafka=kafka.version, **vars_of(kill), starts=starts, wrong=wrong)
    assert not wrong, (kill, errors)


@pytest.fixture
def second_driver(cluster, driver, tmp_path) -> Iterator[tuple[Driver, Driver]]:
    """Two drivers, each with one of the cluster's cores."""
    driver.end()
    settings = {**CLUSTER, **SETTINGS, "spark.master": cluster.url, "spark.cores.max": "1"}
    made = []
    for name in ("older", "newer"):
        (tmp_path / name).mkdir()
        made.append(Driver(tmp_path / name, settings, cluster.worker_pids))
    yield made[0], made[1]
    for each in made:
        each.end()


def test_of_two_live_drivers_on_one_checkpoint_the_older_one_dies_fenced(kafka, second_driver, tmp_path):
    older, newer = second_driver
    source, target = make_topics(kafka, "two-drivers", some_twice=False)
    point = KillPoint(tmp_path / "points", "undecided", 2)
    older.ask(run_of(kafka, "stateless", source, target, tmp_path, point, 3))
    assert stops(point, older), "the query has ended"
    nowhere = KillPoint(tmp_path / "no-points", "none", 1)
    newer.ask(run_of(kafka, "stateless", source, target, tmp_path, nowhere, 5))
    assert newer.answer() == {"error": None, "batches": [1, 2, 3, 4]}
    point.release()
    told = older.answer()
    assert told is not None, "the older driver has not ended"
    assert "another driver has taken over transactionalIdPrefix" in str(told["error"])
    assert not faults(seen_by_readers(kafka.bootstrap_servers, target), IDS)


def test_an_older_driver_that_wakes_while_it_aborts_harms_nothing_of_the_newer_one(kafka, second_driver, tmp_path):
    older, newer = second_driver
    source, target = make_topics(kafka, "asleep", some_twice=False)
    undecided = KillPoint(tmp_path / "undecided", "undecided", 2)
    older.ask(run_of(kafka, "stateless", source, target, tmp_path, undecided, 3))
    assert stops(undecided, older), "the query has ended"
    older.kill()  # what its tasks have written stays open
    older.end()
    aborting = KillPoint(tmp_path / "aborting", "aborting", 1)
    older.ask(run_of(kafka, "stateless", source, target, tmp_path, aborting, 4))
    assert stops(aborting, older), "the query has ended"
    deciding = KillPoint(tmp_path / "decided", "decided", 1)
    newer.ask(run_of(kafka, "stateless", source, target, tmp_path, deciding, 5))
    assert stops(deciding, newer), "the query has ended"
    aborting.release()
    told = older.answer()
    deciding.release()
    assert told is not None, "the older driver has not ended"
    assert "another driver has taken over transactionalIdPrefix" in str(told["error"])
    assert newer.answer() == {"error": None, "batches": [1, 2, 3, 4]}
    assert not faults(seen_by_readers(kafka.bootstrap_servers, target), IDS)


def test_a_transaction_that_timed_out_after_the_decision_is_told_with_its_partitions(kafka, driver, tmp_path):
    source, target = make_topics(kafka, "timed-out", some_twice=False)
    point = KillPoint(tmp_path / "points", "decided", 2)
    timeout = {"kafka.transaction.timeout.ms": "30000"}
    for number in range(2, 2 + MOST_STARTS):  # on a busy machine a batch may time out before it is decided
        driver.ask(run_of(kafka, "stateless", source, target, tmp_path, point, number, **timeout))
        if stops(point, driver):
            break
    assert point.stopped is not None
    driver.kill()
    driver.end()
    left = transactions(f"of-{target}", bootstrap_servers=kafka.bootstrap_servers)
    assert left.open
    assert all(each.is_decided for each in left.open)
    deadline = time.monotonic() + LIMIT_S
    while transactions(f"of-{target}", bootstrap_servers=kafka.bootstrap_servers).open:
        assert time.monotonic() < deadline, "Kafka has not aborted what timed out"
        time.sleep(1.0)
    driver.ask(run_of(kafka, "stateless", source, target, tmp_path, point, 8, **timeout))
    told = driver.answer()
    point.release()
    assert told is not None, "the query has not ended"
    assert "rows of batch 1 of" in str(told["error"])
    assert "are lost: it was decided" in str(told["error"])
    lost = sorted({str(number) for each in left.open for _, number in each.partitions})
    named = re.findall(rf"{target}-\[([0-9,-]+)\]", str(told["error"]))
    assert sorted({str(number) for text in named for number in numbers_in(text)}) == lost


def stops(point: KillPoint, driver: Driver) -> bool:
    """Wait until a process has stopped at the point; False: the query has ended without that."""
    for _ in range(int(LIMIT_S / POLL_S)):
        told = driver.answer(POLL_S)
        if point.stopped is not None or told is not None:
            return point.stopped is not None
    raise AssertionError("nothing has stopped")


def kill_at(
    point: KillPoint, kill: Kill, seed: int, driver: Driver, kafka: ApacheKafka
) -> tuple[bool, dict[str, Any] | None]:
    """Wait until a process has stopped at the point, and kill; gives whether that was so, and the query's end."""
    for _ in range(int(LIMIT_S / POLL_S)):
        told = driver.answer(POLL_S)
        if point.stopped is not None:
            break
        if told is not None:
            return False, told
    stopped = point.stopped
    assert stopped is not None, "nothing has stopped"
    strike(kill, stopped, random.Random(seed), driver, kafka)
    point.release()
    if kill.victim == "broker":
        kafka.restart()
    return True, driver.answer()


def strike(kill: Kill, stopped: int, dice: random.Random, driver: Driver, kafka: ApacheKafka) -> None:
    """Kill the victim: where it can be the one that has stopped, it is."""
    executors = driver.executors
    if kill.victim == "driver":
        driver.kill()
    elif kill.victim == "broker":
        kafka.kill()
    elif kill.victim == "executor":
        kill_process(executor_of(stopped, executors) or dice.choice(executors))
    elif kill.victim == "task":
        assert stopped in driver.tasks
        kill_process(stopped)
    else:
        planners = driver.planners
        kill_process(stopped if stopped in planners else dice.choice(planners))


def run_of(
    kafka: ApacheKafka,
    kind: str,
    source: str,
    target: str,
    folder: Path,
    point: KillPoint,
    shuffle_partitions: int,
    **options: str,
) -> Run:
    servers, checkpoint = kafka.bootstrap_servers, str(folder / "checkpoint")
    return Run(kind, servers, source, target, checkpoint, str(point.folder), shuffle_partitions, ROWS_A_BATCH, options)


def vars_of(kill: Kill) -> dict[str, Any]:
    return {"kind": kill.kind, "victim": kill.victim, "point": kill.point, "time": kill.time_number}


def note(capsys: pytest.CaptureFixture[str], **row: Any) -> None:
    """Show what a seed did, and keep it where KAFKA_KILLS_RESULT says."""
    with capsys.disabled():
        print(json.dumps(row))
    if result := os.environ.get("KAFKA_KILLS_RESULT"):
        with Path(result).open("a") as rows:
            rows.write(json.dumps(row) + "\n")
