"""The planning part of a streaming query."""

import json

from kafka.spark.options.parsing import ReadOptions, parse_read
from kafka.spark.planning.checkpoint_layout import Layout
from kafka.spark.planning.ranges import OffsetRange
from kafka.spark.planning.stream_plan import StreamPlanner, batch_ranges

from .fake_cluster import FakeCluster


class Query:
    """A streaming query as Spark runs it: offsets are converted to JSON and back, as in its checkpoint."""

    def __init__(self, logs, **options: str) -> None:
        given = {"kafka.bootstrap.servers": "h:1", **({} if "subscribePattern" in options else {"subscribe": "t"})}
        given |= {name.lower(): value for name, value in options.items()}
        self.options: ReadOptions = parse_read(given, streaming=True)
        self.cluster = FakeCluster(logs)
        self.now = 1_000.0
        self.trigger_is_told = True
        self.restart()

    def restart(self) -> None:
        """Continue in a new process, without the state of the old one."""
        self.planner = StreamPlanner(self.options, self.cluster, lambda: self.now)

    def produce(self, partition: int, count: int) -> None:
        first, end = self.cluster.logs.get(("t", partition), (0, 0))  # type: ignore[call-overload]
        self.cluster.logs.update(FakeCluster({("t", partition): (first, end + count)}).logs)

    def initial(self) -> Layout:
        return json.loads(json.dumps(self.planner.initial()))

    def latest(self, start: Layout, max_rows: int | None = None, everything: bool | None = None) -> Layout:
        self.now += 2.0
        limited = max_rows is not None or self.options.min_offsets is not None
        everything = not limited if everything is None else everything
        now_ms = None if self.trigger_is_told else int(self.now * 1_000)
        return json.loads(json.dumps(self.planner.latest(start, max_rows, everything=everything, now_ms=now_ms)))

    def freeze_and_ask(self, start: Layout) -> Layout:
        """Do what Spark does at the start with `Trigger.AvailableNow`."""
        self.planner.freeze()
        return self.latest(start)

    def ranges(self, start: Layout, end: Layout) -> list[OffsetRange]:
        return batch_ranges(self.options, start, end)
