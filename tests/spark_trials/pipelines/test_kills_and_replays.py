"""A pipeline on Apache Kafka while the driver, tasks and the broker are killed: every record is accounted for once.

The stream and a replay run under kills; then come more replays, with a corrected rule and a corrected schema, and a
backfill beside the stream. `planted_records` makes the records, `killing` kills, and `readers` reads the result.
KAFKA_PIPELINE_RECORDS, KAFKA_PIPELINE_KILLS, KAFKA_PIPELINE_REPLAY_KILLS and KAFKA_PIPELINE_SEED choose how much.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.apache import ApacheKafka
from harness.spark_cluster import SMALL_JVM
from harness.topics import create_topic
from spark_trials.cluster.kill_support import Driver

from .expected_letters import Expected
from .killing import Killing, kills_of
from .planted_records import PARTITIONS, Records, Version, declaration, plant, produce
from .readers import Letter, Original, letters, originals, sink_numbers
from .trial_program import Work

RECORDS = int(os.environ.get("KAFKA_PIPELINE_RECORDS", "20000"))
KILLS = int(os.environ.get("KAFKA_PIPELINE_KILLS", "3"))
REPLAY_KILLS = int(os.environ.get("KAFKA_PIPELINE_REPLAY_KILLS", "2"))
SEED = int(os.environ.get("KAFKA_PIPELINE_SEED", "1"))
SOURCE, SINK, DEAD, OTHER = TOPICS = ("orders", "orders-good", "orders-dead", "orders-again")
PROGRAM = Path(__file__).with_name("trial_program.py")
SETTINGS = {
    "spark.master": "local[2,2]",  # a task is tried twice
    "spark.driver.memory": "768m",
    "spark.driver.extraJavaOptions": SMALL_JVM,
    "spark.log.level": "ERROR",
    "spark.ui.showConsoleProgress": "false",
}


@pytest.fixture
def kafka(tmp_path: Path) -> Iterator[ApacheKafka]:
    properties = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000"}
    with ApacheKafka(tmp_path / "kafka", properties=properties) as running:
        yield running


@pytest.fixture
def killing(kafka: ApacheKafka, tmp_path: Path) -> Iterator[Killing]:
    driver = Driver(tmp_path, SETTINGS, [], PROGRAM)
    yield Killing(driver, kafka, tmp_path / "kills")
    driver.end()


class Trial:
    """The pipeline of the trial, and what must have become of its records.

    Arguments:
        kafka: the broker.
        killing: carries out works.
        folder: for the pipeline's directory.
    """

    def __init__(self, kafka: ApacheKafka, killing: Killing, folder: Path) -> None:
        self.servers = kafka.bootstrap_servers
        self.records = plant(0, RECORDS, SEED)
        self.expected = Expected(self.records.kinds)
        self.dropped = self.records.dropped()
        self.version = Version()
        self._killing = killing
        self._checkpoint = str(folder / "pipeline")
        self._good = set(range(RECORDS)) - set(self.records.kinds) - self.dropped
        self._originals: dict[int, Original] = {}

    def work(self, what: str, **more: Any) -> Work:
        """Return some work with the current version of the pipeline."""
        batch = max(RECORDS // (2 * KILLS), 1_000)
        text = declaration("orders", self.servers, self._checkpoint, (SOURCE, SINK, DEAD), batch, self.version)
        return Work(what, text, self._killing.points, **more)

    def letters(self) -> list[Letter]:
        """Return the dead letters."""
        return letters(self.servers, DEAD, SOURCE)

    def replay(self, step: str, chosen: list[Letter], kills: int = 0, **selection: Any) -> None:
        """Replay dead letters with the current version, and check."""
        slices = max(len(self.expected.kinds) // (4 * kills + 2), 20)
        work = self.work("replay", slice_offsets=slices, **selection)
        told = self._killing.carry_out(work, kills_of(SEED + 1, kills))
        count = self.expected.replay([each.number for each in chosen], self.version)
        assert count > 0, step
        if told["starts"] == 1:
            assert told["rows"] == count, step
        self.check(step, **told, kills=kills)

    def check(self, step: str, **told: Any) -> None:
        """Compare what consumers see with what must be there, and tell the result of a step."""
        if not self._originals:
            count, self._originals = originals(self.servers, SOURCE, set(self.expected.kinds))
            assert count == RECORDS
        found = self.letters()
        faults = self.expected.faults(found, self._originals)
        assert not faults, (step, len(faults), faults[:20])
        rows = sink_numbers(self.servers, SINK, SOURCE)
        wanted = np.sort(np.fromiter(self._good | self.expected.good, np.int64))
        assert np.array_equal(rows, wanted), (step, _difference(rows, wanted))
        tell(step, good=len(rows), letters=len(found), dropped=len(self.dropped), **told)

    def audit(self, step: str) -> None:
        """Audit the pipeline."""
        told = self._killing.carry_out(self.work("audit"))
        assert told["faults"] == [], step
        tell(f"audit {step}", **told)

    def grow(self, more: Records) -> None:
        """Write more records, for the stream."""
        produce(self.servers, SOURCE, more)
        good = self.expected.add(more.kinds, self.version)
        self._good |= (set(range(more.first, more.end)) - set(more.kinds) - more.dropped()) | good
        self.dropped |= more.dropped()
        self._originals |= originals(self.servers, SOURCE, set(more.kinds))[1]

    def backfill_beside_stream(self, part: dict[int, list[int]]) -> None:
        """Process a range of the source again, into another topic, while the stream processes new records."""
        count = max(RECORDS // 50 // PARTITIONS, 50) * PARTITIONS
        halves = plant(RECORDS, count, SEED + 2), plant(RECORDS + count, count, SEED + 3)
        self.grow(halves[0])
        slices = sum(end - start for start, end in part.values()) // 4
        work = self.work("beside", ranges=part, to=OTHER, slice_offsets=slices, rows=2 * count)
        self._killing.ask(work)
        self.grow(halves[1])
        told = self._killing.await_end(work)
        if told["starts"] == 1:
            assert (told["streamed"], told["left"]) == (2 * count, 0)
        inside = {offset * PARTITIONS + number for number, (start, end) in part.items() for offset in range(start, end)}
        bad = inside & set(self.records.kinds)
        accepted = {number for number in bad if self.records.kinds[number] in self.version.accepts}
        self.expected.add_again(bad - accepted)
        rows = sink_numbers(self.servers, OTHER, SOURCE)
        wanted = np.sort(np.fromiter((inside - bad - self.dropped) | accepted, np.int64))
        assert np.array_equal(rows, wanted), _difference(rows, wanted)
        self.check("backfill beside the stream", again=len(rows), **told)


def _difference(rows: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any]) -> dict[str, Any]:
    numbers, counts = np.unique(rows, return_counts=True)
    return {
        "missing": np.setdiff1d(wanted, numbers)[:20].tolist(),
        "unexpected": np.setdiff1d(numbers, wanted)[:20].tolist(),
        "more than once": numbers[counts > 1][:20].tolist(),
    }


@pytest.mark.timeout(0)
def test_every_record_is_accounted_for_once(kafka: ApacheKafka, killing: Killing, tmp_path: Path) -> None:
    trial = Trial(kafka, killing, tmp_path)
    for topic in (SINK, DEAD, OTHER):
        create_topic(kafka.bootstrap_servers, topic, PARTITIONS)
    produce(kafka.bootstrap_servers, SOURCE, trial.records)

    told = killing.carry_out(trial.work("run"), kills_of(SEED, KILLS))
    assert len(trial.expected.kinds) == RECORDS // 100
    trial.check("stream", **told, kills=KILLS)
    trial.audit("of the stream")

    trial.version = Version(largest=10_000)
    trial.replay("replay after a rule was corrected", trial.expected.pending(trial.letters()), REPLAY_KILLS)
    trial.replay("second replay", trial.expected.pending(trial.letters()))
    trial.version = Version(largest=10_000, codes="ABCZ")
    chosen = [each for each in trial.expected.pending(trial.letters()) if "code is known" in each.rules]
    trial.replay("replay of one rule", chosen, rule="code is known")
    offsets = sorted(each.place[1] for each in trial.expected.pending(trial.letters()) if each.place[0] == 0)
    start, end = offsets[len(offsets) // 4], offsets[3 * len(offsets) // 4]
    within = [
        each for each in trial.expected.pending(trial.letters()) if each.place[0] == 0 and start <= each.place[1] < end
    ]
    trial.replay("replay of a range", within, ranges={0: [start, end]})
    trial.version = Version(largest=10_000, codes="ABCZ", total="double")
    trial.replay("replay after the schema was corrected", trial.expected.pending(trial.letters()))
    trial.audit("of the replays")

    last = RECORDS // PARTITIONS
    trial.backfill_beside_stream({1: [last // 10, last // 2], 6: [0, last // 3]})
    trial.audit("of the whole")
    tell("errors after kills", errors=[each[:300] for each in killing.errors])


def tell(step: str, **row: Any) -> None:
    """Print the result of a step, and keep it where KAFKA_PIPELINE_RESULT says."""
    line = json.dumps({"step": step, "time": time.strftime("%H:%M:%S"), **row})
    print(line, flush=True)
    if result := os.environ.get("KAFKA_PIPELINE_RESULT"):
        with Path(result).open("a") as rows:
            rows.write(line + "\n")
