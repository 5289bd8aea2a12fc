"""One task of one client in a separate process: `python -m bench.job JSON` prints the result as JSON."""

from __future__ import annotations

import dataclasses
import importlib
import json
import resource
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench.workload import Sums

FETCH_BYTES = 64 << 20
PARTITION_FETCH_BYTES = 8 << 20
BATCH_BYTES = 256 << 10
LINGER_MS = 20
BATCH_RECORDS = 10_000
TRANSACTION_RECORDS = 100
"""How many records a transaction has."""
PATIENCE_S = 60.0


@dataclass(frozen=True)
class Job:
    """The work of a client. `topic` is read from or written to; `count` records of `size` bytes.

    With `warm_up`, a topic, it is done twice in the process, there first, and the second time counts: in the first one,
    memory that the system hands out page by page costs more than reading a topic of some hundred megabytes.
    """

    task: str
    client: str
    bootstrap_servers: str
    topic: str
    partitions: int
    count: int
    size: int
    codec: str
    warm_up: str = ""


@dataclass(frozen=True)
class Result:
    """The result of a job.

    `seconds` are those in which `timed` of the records moved, `cpu_seconds` the processor's meanwhile (of another
    program with a share of its start). `latencies_ms` has one a trip, `parts_ms` the medians of what trips consist of.
    """

    count: int
    timed: int
    seconds: float
    checksum: str
    cpu_seconds: float
    peak_mb: float
    version: str
    latencies_ms: list[float] = field(default_factory=list)
    parts_ms: dict[str, float] = field(default_factory=dict)

    @property
    def rate(self) -> float:
        """Records a second; 0 for a task that has no stretch of time but trips."""
        return self.timed / self.seconds if self.seconds else 0.0


class Watch:
    """Counts records and time. The time begins with the first records, so that connecting is not in it."""

    def __init__(self, job: Job, sums: Sums) -> None:
        self.sums = sums
        self._wanted = job.count
        self._started = 0.0
        self._before = 0
        self._seconds = 0.0
        self._cpu_started = self._cpu_seconds = 0.0
        self._deadline = time.monotonic() + PATIENCE_S
        self._timed: int | None = None
        self._latencies_ms: list[float] = []
        self._parts_ms: dict[str, float] = {}
        self._usage: tuple[float, float] | None = None

    def start(self) -> None:
        """Begin now: for tasks that write, and those that are connected."""
        self._started, self._cpu_started = time.perf_counter(), time.process_time()

    def done(self) -> bool:
        """Tell whether all records came; to be asked after each batch.

        Raises:
            TimeoutError: the rest did not come in a minute.
            RuntimeError: all came at once.
        """
        if self.sums.count < self._wanted:
            if not self._started and self.sums.count:
                self._before = self.sums.count
                self.start()
            elif time.monotonic() > self._deadline:
                raise TimeoutError(f"{self.sums.count} of {self._wanted} records came")
            return False
        if not self._started:
            raise RuntimeError(f"all {self.sums.count} records came at once, so that no time passed: use more of them")
        self.stop()
        return True

    def stop(self) -> None:
        """End now."""
        self._seconds = time.perf_counter() - self._started
        self._cpu_seconds = time.process_time() - self._cpu_started

    def acknowledged(self, count: int) -> None:
        """Tell how many records the broker has acknowledged: for tasks that write."""
        self.sums.count = count

    def measured(self, timed: int, seconds: float) -> None:
        """Tell what another program has counted and timed."""
        self._timed, self._seconds = timed, seconds

    def latency(self, seconds: Sequence[float], **parts: Sequence[float]) -> None:
        """Tell how long each trip took, those of the warm-up left out: for tasks that measure latency.

        Arguments:
            seconds: of each trip.
            parts: the seconds of parts of each trip, such as its way to the broker.
        """
        self._latencies_ms = [round(trip * 1000, 4) for trip in seconds]
        self._parts_ms = {name: round(statistics.median(times) * 1000, 4) for name, times in parts.items()}

    def used(self, cpu_seconds: float, peak_mb: float) -> None:
        """Tell what the task used, where it is not this process that does the work."""
        self._usage = cpu_seconds, peak_mb

    def result(self, version: str) -> Result:
        """Return what was measured."""
        timed = self.sums.count - self._before if self._timed is None else self._timed
        cpu_seconds, peak_mb = self._cpu_seconds, _peak_kib() / 1024
        if self._usage:
            cpu_seconds, peak_mb = self._usage[0] * timed / self.sums.count, self._usage[1]
        return Result(
            count=self.sums.count,
            timed=timed,
            seconds=self._seconds,
            checksum=self.sums.checksum,
            cpu_seconds=cpu_seconds,
            peak_mb=peak_mb,
            version=version,
            latencies_ms=self._latencies_ms,
            parts_ms=self._parts_ms,
        )


def _peak_kib() -> int:
    """The largest resident memory of this process; on Linux without what its parent had when it forked."""
    status = Path("/proc/self/status")
    for line in status.read_text().splitlines() if status.exists() else ():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def run(job: Job) -> Result:
    """Do the job in this process."""
    from bench.roster import CLIENTS
    from bench.workload import Sums

    module = importlib.import_module(f"bench.clients.{CLIENTS[job.client].module}")
    task = getattr(module, job.task.replace("-", "_"))
    if job.warm_up:
        task(dataclasses.replace(job, topic=job.warm_up), Watch(job, Sums(job.size)))
    watch = Watch(job, Sums(job.size))
    task(job, watch)
    return watch.result(module.VERSION)


def main() -> None:
    """Read a job from the command line, do it, and print its result."""
    job = Job(**json.loads(sys.argv[1]))
    print(json.dumps(dataclasses.asdict(run(job))))


if __name__ == "__main__":
    main()
