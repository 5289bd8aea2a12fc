"""Checks the topics of a pipeline: that they exist, and that their configs suit what the pipeline does with them."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable

from kafka.pipelines.checks.cluster_state import ClusterState, TopicState
from kafka.pipelines.checks.columns import close
from kafka.pipelines.checks.problem import Findings
from kafka.pipelines.declaration import Declaration, Location, Source
from kafka.pipelines.field_types import selects

_WEEK_MS = 7 * 86_400_000
_AHEAD_MS = 60_000
DEAD = ("dead_letters", "topic")
SINK = ("sink", "topic")


def check_names(findings: Findings, declaration: Declaration) -> None:
    """Report a topic of dead letters that is also that of the sink. Needs no broker.

    `Declaration` itself refuses topics that the pipeline both reads and writes.
    """
    sink = declaration.topic_sink
    dead = declaration.dead_letters
    if sink is not None and dead is not None and dead.topic == sink.topic:
        findings.error(DEAD, f"the sink writes to {dead.topic!r}, too: dead letters need a topic of their own")


def names_of(source: Source) -> tuple[str, ...]:
    """Return the topics that a source names; () for a pattern."""
    return (source.topic,) if source.topic is not None else source.topics or ()


def locations_of(source: Source, name: str) -> dict[str, Location]:
    """Return the location of each topic that a source names."""
    if source.topic is not None:
        return {source.topic: ("sources", name, "topic")}
    return {each: ("sources", name, "topics", index) for index, each in enumerate(source.topics or ())}


def check_topics(findings: Findings, declaration: Declaration, state: ClusterState) -> None:
    """Check that the topics exist, and their configs.

    Arguments:
        findings: collects the problems.
        declaration: the declaration.
        state: what the brokers answered.
    """
    for name, source in declaration.all_sources.items():
        for topic, location in locations_of(source, name).items():
            _check_source(findings, location, topic, state)
        if source.pattern is not None:
            location = ("sources", name, "pattern")
            found = [each for each in state.topics if selects(source.pattern, each)]
            if found:
                findings.passed(location, f"the pattern selects {len(found)} topics")
            else:
                findings.error(location, "the pattern selects no topic: a query starts only if there is one")
    sink = declaration.topic_sink
    if sink is not None:
        written = _check_written(findings, SINK, sink.topic, state)
        if written is not None and _is_compacted(written) and sink.key is None:
            findings.error(
                ("sink",),
                f"topic {sink.topic!r} is compacted, so that brokers reject records without a key: set the key",
            )
    if declaration.dead_letters is not None:
        dead = _check_written(findings, DEAD, declaration.dead_letters.topic, state)
        if dead is not None:
            _check_dead_letters(findings, declaration, dead, state)


def _check_source(findings: Findings, location: Location, topic: str, state: ClusterState) -> None:
    found = state.topics.get(topic)
    if found is not None:
        findings.passed(location, f"topic {topic!r} exists, with {_partitions(found)}")
    elif topic not in state.denied:
        hint = close(topic, state.all_names)
        findings.error(location, f"topic {topic!r} does not exist{hint or _creation(topic)}")


def _check_written(findings: Findings, location: Location, topic: str, state: ClusterState) -> TopicState | None:
    found = state.topics.get(topic)
    if found is not None:
        findings.passed(location, f"topic {topic!r} exists, with {_partitions(found)}")
    elif topic not in state.denied:
        creates = state.broker.get("auto.create.topics.enable")
        if creates == "true":
            count, replicas = (state.broker.get(each, "?") for each in ("num.partitions", "default.replication.factor"))
            findings.warning(
                location,
                f"topic {topic!r} does not exist: the brokers will create it with num.partitions={count} and "
                f"default.replication.factor={replicas}, unless you create it",
            )
        elif creates == "false":
            findings.error(location, f"topic {topic!r} does not exist{_creation(topic)}")
        else:
            findings.warning(
                location,
                f"topic {topic!r} does not exist, and it is unknown whether brokers create it{_creation(topic)}",
            )
    return found


def _creation(topic: str) -> str:
    return f": create it, for example with kafka topics create {topic} -p 3"


def _partitions(topic: TopicState) -> str:
    count = len(topic.partitions)
    return f"{count} partition" + ("" if count == 1 else "s")


def _is_compacted(topic: TopicState) -> bool:
    return "compact" in topic.configs.get("cleanup.policy", "")


def _check_dead_letters(findings: Findings, declaration: Declaration, dead: TopicState, state: ClusterState) -> None:
    """Check that dead letters remain until someone has replayed them, and that they fit into the topic."""
    if _is_compacted(dead):
        findings.error(
            DEAD,
            f"topic {dead.name!r} is compacted, so that a dead letter replaces earlier ones with the same key, and "
            "brokers reject dead letters without a key: set cleanup.policy=delete",
        )
    kept = dead.number("retention.ms")
    if kept is not None and 0 <= kept < _WEEK_MS:
        findings.warning(
            DEAD,
            f"topic {dead.name!r} deletes dead letters after {duration(kept)}: set retention.ms to the time within "
            "which you will have replayed them, or to -1",
        )
    elif kept is not None:
        findings.passed(DEAD, f"dead letters are kept for {duration(kept)}" if kept >= 0 else "dead letters are kept")
    if (size := dead.number("retention.bytes")) is not None and size >= 0:
        findings.warning(
            DEAD,
            f"topic {dead.name!r} keeps at most {size:,} bytes for each partition, and then deletes dead letters: set "
            "retention.bytes=-1",
        )
    partitions = 0
    for name in (each for source in declaration.all_sources.values() for each in names_of(source)):
        source = state.topics.get(name)
        if source is None:
            continue
        partitions += len(source.partitions)
        largest, limit = source.number("max.message.bytes"), dead.number("max.message.bytes")
        if largest is not None and limit is not None and limit < largest:
            findings.warning(
                DEAD,
                f"topic {dead.name!r} accepts records up to {limit:,} bytes, {name!r} up to {largest:,}: the dead "
                "letter of a large record would fail the pipeline; increase max.message.bytes",
            )
    if len(dead.partitions) == 1 and partitions >= 8:
        findings.warning(
            DEAD,
            f"topic {dead.name!r} has 1 partition, the sources {partitions}: all rejected records go to one broker, "
            "and a replay reads them one after the other; add partitions",
        )


def check_clock(
    findings: Findings, state: ClusterState, clock: Callable[[], float] = time.time, location: Location = ("kafka",)
) -> None:
    """Report topics whose newest record is in the future: this machine's clock is behind, or a producer's is ahead.

    Arguments:
        findings: collects the problems.
        state: what the brokers answered.
        clock: returns the time in seconds since 1970.
        location: the location of the problem.
    """
    now_ms = round(clock() * 1000)
    late = {each: at - now_ms for each, at in state.newest_ms.items() if at - now_ms > _AHEAD_MS}
    for partition, ahead in sorted(late.items()):
        findings.warning(
            location,
            f"the newest record of {partition.topic}-{partition.partition} is {duration(ahead)} in the future: this "
            "machine's clock is behind, or that of a producer is ahead",
        )
    if state.newest_ms and not late:
        findings.passed(location, "no record is in the future of this machine's clock")


def duration(ms: int) -> str:
    """Return a duration as text, such as "7 days" or "1:30:00"."""
    if ms >= 1000 * 365 * 86_400_000:
        return "more than 1,000 years"
    if ms and ms % 86_400_000 == 0:
        days = ms // 86_400_000
        return f"{days:,} day" + ("" if days == 1 else "s")
    return str(datetime.timedelta(seconds=round(ms / 1000)))
