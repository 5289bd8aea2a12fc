"""Makes realistic events of a pipeline, and dead letters, for the tests of the report, the metrics and the web UI."""

from __future__ import annotations

import dataclasses
import datetime
import json
import random
from collections.abc import Sequence
from typing import Any

from kafka.pipelines.events import Event, Kind, Run, SourceCounts
from kafka.pipelines.record_headers import Position

NAME = "flight-delays"
BEGINNING = datetime.datetime(2026, 11, 27, 14, 0, 0, tzinfo=datetime.UTC)
RULES = ("decodes", "carrier is known", "delay is plausible", "airport is ours")
DECLARED_RULES = [
    {"name": "carrier is known", "holds": "carrier is not null", "otherwise": "dead_letter"},
    {"name": "delay is plausible", "holds": "dep_delay between -120 and 2000", "otherwise": "dead_letter"},
    {"name": "airport is ours", "holds": "origin in ('EWR', 'JFK', 'LGA')", "otherwise": "drop"},
]


def declaration(sources: Sequence[str] = ("source",)) -> dict[str, Any]:
    """The declaration of the pipeline, as `Declaration.model_dump` returns it."""
    topics = {name: "flights" if name == "source" else name for name in sources}
    return {
        "pipeline": NAME,
        "kafka": {"bootstrap.servers": "localhost:9092"},
        "source": None,
        "sources": {
            name: {"topic": topic, "topics": None, "value": {"format": "json"}, "rules": DECLARED_RULES}
            for name, topic in topics.items()
        },
        "rules": (),
        "query": f"select origin, dep_delay, carrier\nfrom {sources[0]}\nwhere dep_delay > 0",
        "sink": {"topic": "delays", "key": "origin"},
        "dead_letters": {"topic": "flights.dead"},
    }


@dataclasses.dataclass(frozen=True)
class SampleDeadLetter:
    """A dead letter, with the attributes of `kafka.pipelines.dead_letters.DeadLetter`."""

    position: Position
    source: Position | None
    pipeline: str
    rules: tuple[str, ...]
    cause: str
    attempt: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()


@dataclasses.dataclass
class Sample:
    """Makes the events of runs, one after another.

    Arguments:
        seed: determines all random numbers.
        sources: the names of the sources.
        rules: the names of the rules of each source.
    """

    seed: int = 1
    sources: Sequence[str] = ("source",)
    rules: Sequence[str] = RULES
    now: datetime.datetime = BEGINNING
    batch: int = 0
    pipeline: str = NAME
    state_rows: int = 0

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._runs = 0
        self._offsets = dict.fromkeys(self.sources, 0)
        self.events: list[Event] = []

    def event(self, kind: Kind, run: Run = "stream", number: int = 0, **fields: object) -> Event:
        """Add an event at the current time."""
        made = Event(
            kind,
            self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            self.pipeline,
            run=run,
            run_id=f"{self._runs:08x}-run",
            number=number,
            **fields,  # type: ignore[arg-type]
        )
        self.events.append(made)
        return made

    def run(
        self,
        batches: int,
        *,
        ending: Kind | None = "stop",
        rows: int = 10_000,
        seconds: float = 1.0,
        idle: float = 0.2,
        stateful: bool = False,
        lag: int = 0,
        run: Run = "stream",
        number: int = 0,
        cause: str = "",
    ) -> Sample:
        """Add a run. Rules fail in bursts.

        Arguments:
            batches: the number of micro-batches.
            ending: ``stop``, ``failure``, or None for a run that is killed.
            rows: the usual number of rows in a micro-batch.
            seconds: the usual duration of a micro-batch.
            idle: seconds between two micro-batches.
            stateful: whether there are state and late rows.
            lag: the lag before the run.
            run: the kind of the run.
            number: the number of the replay or backfill.
            cause: the error's text.
        """
        self._runs += 1
        self.event("start", run, number, declaration=declaration(self.sources))
        self.pause(6.5)
        for at in range(batches):
            burst = self._random.random() < 0.03 or (batches > 20 and batches // 3 < at < batches // 3 + batches // 12)
            took = seconds * self._random.uniform(0.7, 1.4)
            lag = max(0, lag - self._random.randrange(rows // 2 + 1) + self._random.randrange(rows // 3 + 1))
            self.state_rows += self._random.randrange(200) if stateful else 0
            counts = {name: self._counts(name, rows, burst, lag) for name in self.sources}
            self.event(
                "batch",
                run,
                number,
                batch=self.batch if run == "stream" else at,
                seconds=round(took, 3),
                sources=counts,
                out=sum(each.processed for each in counts.values()) * 6 // 10,
                late=self._random.randrange(40) if stateful and burst else 0,
                state_rows=self.state_rows,
            )
            self.batch += run == "stream"
            self.pause(took + idle * self._random.uniform(0.5, 1.5))
        if ending is not None:
            self.event(ending, run, number, cause=cause or None)
        return self

    def pause(self, seconds: float) -> Sample:
        """Let time pass."""
        self.now += datetime.timedelta(seconds=seconds)
        return self

    def _counts(self, name: str, rows: int, burst: bool, lag: int) -> SourceCounts:
        read = max(0, round(rows * self._random.uniform(0.6, 1.4)))
        chance = (0.08 if burst else 0.002, 0.001, 0.004, 0.03)
        failed = {
            rule: number
            for at, rule in enumerate(self.rules)
            if (number := round(read * chance[at % 4] * self._random.uniform(0.2, 1.8)))
        }
        dropped = failed.get("airport is ours", 0)
        dead = sum(failed.values()) - dropped
        start = self._offsets[name]
        self._offsets[name] += read
        return SourceCounts(
            rows=read,
            processed=read - dropped - dead,
            dropped=dropped,
            dead=dead,
            rules=failed,
            ranges={f"{name}-0": (start, start + read)},
            lag=lag,
        )


def several_runs(stateful: bool = False, sources: Sequence[str] = ("source",)) -> list[Event]:
    """A stream with a killed run, a failed one and one that was stopped, and two replays."""
    sample = Sample(sources=sources)
    sample.run(60, ending=None, lag=80_000, stateful=stateful).pause(25)
    sample.run(40, ending="failure", cause="Job aborted: <b>no space left</b> on device\nat write", stateful=stateful)
    sample.pause(3600 * 7).run(80, lag=40_000, stateful=stateful)
    sample.pause(40).run(6, run="replay", number=1, rows=900)
    return sample.pause(30).run(2, run="replay", number=2, rows=300).events


def dead_letters(number: int = 14) -> list[SampleDeadLetter]:
    """Dead letters with JSON, broken JSON, binary, empty and hostile values."""
    values = (
        (("delay is plausible",), {"year": 2013, "carrier": "UA", "origin": "EWR", "dep_delay": 99999.0}),
        (
            ("carrier is known", "delay is plausible"),
            {"year": 2013, "carrier": None, "nested": {"a": [1, 2, {"b": 3}]}},
        ),
        (("decodes",), b'{"year": 2013, "carrier": "U'),
        (("decodes",), bytes(range(200))),
        (("decodes",), b""),
        (("<script>alert(1)</script>",), b"<img src=x onerror=alert(2)>\xe2\x80\xae gnp.exe"),
        (("decodes",), None),
    )
    found = []
    for at in range(number):
        rules, value = values[at % len(values)]
        data = json.dumps(value).encode() if isinstance(value, dict) else value
        found.append(
            SampleDeadLetter(
                position=Position("flights.dead", at % 3, 1_000 + at),
                source=Position("flights", at % 6, 1_234_567 + at, "abc") if at % 5 else None,
                pipeline=NAME,
                rules=rules,
                cause=f"row fails {', '.join(rules)}"
                if rules[0] != "decodes"
                else "not JSON: unexpected end at byte 28",
                attempt=1 + at % 2,
                timestamp_ms=1_795_788_000_000 + 1000 * at,
                key=b"EWR" if at % 2 else None,
                value=data,
                headers=(("trace", b"00-4bf9"), ("kafka.rule", rules[0].encode())) if at % 3 else (),
            )
        )
    return found
