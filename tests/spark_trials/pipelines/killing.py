"""Kills processes while a driver works for a pipeline, and starts the work again until it is done."""

from __future__ import annotations

import dataclasses
import os
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.apache import ApacheKafka
from harness.kill_points import DRIVER_POINTS, TASK_POINTS, KillPoint
from spark_trials.cluster.kill_support import Driver, kill_process

from .trial_program import Work

VICTIMS = ("driver", "task", "broker", "writer")
"""The driver with its JVM; the Python process of a task; the broker; the Python process that plans and commits."""
POINTS = {
    "driver": (*DRIVER_POINTS, *TASK_POINTS, "recorded"),
    "task": TASK_POINTS,
    "broker": (*DRIVER_POINTS, *TASK_POINTS, "recorded"),
    "writer": DRIVER_POINTS,
}
"""Where a process can have stopped when a victim is killed; `recorded` is when the event of a batch was written."""
GIVES_UP = ("TransactionLost", "ReplayDiffers", "PrefixInUse", "SecondWrite", "fails rules")
"""What errors must not say: the work could not be continued."""
POLL_S = 0.05
LIMIT_S = 3_600.0
STARTS_PER_KILL = 4


@dataclasses.dataclass(frozen=True)
class Kill:
    """A kill.

    Arguments:
        victim: one of `VICTIMS`.
        point: where a process has stopped when the victim is killed.
        time_number: the how manieth time that a process comes there.
    """

    victim: str
    point: str
    time_number: int

    def __str__(self) -> str:
        return f"{self.victim} at {self.point} {self.time_number}"


def kills_of(seed: int, count: int) -> list[Kill]:
    """Return the kills of a seed: the victims in turn."""
    dice = random.Random(seed)
    found = []
    for number in range(count):
        victim = VICTIMS[number % len(VICTIMS)]
        point = dice.choice(POINTS[victim])
        found.append(Kill(victim, point, dice.randint(1, 3) if point in TASK_POINTS else dice.choice((1, 1, 1, 2))))
    return found


class Killing:
    """Carries out works of a driver under kills.

    Arguments:
        driver: the driver.
        kafka: the broker.
        folder: for the points at which processes stop.
    """

    def __init__(self, driver: Driver, kafka: ApacheKafka, folder: Path) -> None:
        self.errors: list[str] = []
        self._driver = driver
        self._kafka = kafka
        self._folder = folder
        self._count = 0
        self._point: KillPoint | None = None
        self.points = str(folder / "points")
        folder.mkdir()
        self._await_nothing()

    def carry_out(self, work: Work, kills: Sequence[Kill] = ()) -> dict[str, Any]:
        """Do some work to its end while processes are killed; return what it came to, with `starts` and `seconds`."""
        self._await(kills)
        self.ask(work)
        return self.await_end(work, kills)

    def ask(self, work: Work) -> None:
        """Begin some work without kills; `await_end` waits for its end."""
        self._driver.ask(work)

    def await_end(self, work: Work, kills: Sequence[Kill] = ()) -> dict[str, Any]:
        """Wait for the end of some work; see `carry_out`."""
        waiting = list(kills)
        began, starts = time.monotonic(), 1
        while True:
            told = self._driver.answer(POLL_S)
            if told is not None:
                if told["error"] is None:
                    break
                self._note(told["error"])
                starts += 1
                assert starts <= STARTS_PER_KILL * (len(kills) + 1), self.errors[-5:]
                self._driver.ask(dataclasses.replace(work, rows=0))
            elif self._point is not None and self._point.stopped is not None:
                self._strike(waiting)
            assert time.monotonic() < began + LIMIT_S, f"{work.what} has not ended; {len(waiting)} kills are left"
        assert not waiting, f"{work.what} ended before {', '.join(map(str, waiting))}"
        return told | {"starts": starts, "seconds": round(time.monotonic() - began)}

    def _note(self, error: str) -> None:
        self.errors.append(error)
        assert not any(each in error for each in GIVES_UP), error

    def _strike(self, waiting: list[Kill]) -> None:
        """Kill, and let whatever has stopped go on."""
        kill = waiting.pop(0)
        point = self._point
        assert point is not None
        assert point.stopped is not None
        if kill.victim == "driver":
            self._driver.kill()
        elif kill.victim == "broker":
            self._kafka.kill()
        else:
            kill_process(point.stopped)
        self._await(waiting)
        point.release()
        if kill.victim == "broker":
            self._kafka.restart()
        print(f"killed: {kill}", flush=True)

    def _await(self, waiting: Sequence[Kill]) -> None:
        """Have the next process stop, at the point of the next kill."""
        if not waiting:
            self._await_nothing()
            return
        self._count += 1
        self._point = KillPoint(self._folder / f"points-{self._count}", waiting[0].point, waiting[0].time_number)
        self._link(self._point.folder)

    def _await_nothing(self) -> None:
        self._point = None
        self._link(self._folder / "none")

    def _link(self, target: Path) -> None:
        new = self._folder / "new-points"
        new.symlink_to(target)
        os.replace(new, self.points)
