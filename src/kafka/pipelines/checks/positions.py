"""Checks where a pipeline starts or resumes against what the topics of its sources still contain."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

from kafka.errors import KafkaConfigurationError
from kafka.pipelines.checks.cluster_state import ClusterState
from kafka.pipelines.checks.problem import Findings
from kafka.pipelines.checks.topics import duration
from kafka.pipelines.declaration import Declaration, Location, Source
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from kafka.spark.options.parsing import ReadOptions

OffsetsAt = Callable[[Collection[TopicPartition], int], Mapping[TopicPartition, int]]
"""Returns the offset of the first record at or after a time in ms, for each partition that has such a record."""


def check_start(
    findings: Findings,
    name: str,
    source: Source,
    options: ReadOptions,
    topics: Collection[str],
    state: ClusterState,
    offsets_at: OffsetsAt,
    clock: Callable[[], float] = time.time,
) -> None:
    """Check the start position of a source.

    Arguments:
        findings: collects the problems.
        name: the name of the source.
        source: the source.
        options: its parsed options.
        topics: the names of the existing topics that it reads.
        state: what the brokers answered.
        offsets_at: asks the brokers for offsets.
        clock: returns the time in seconds since 1970.
    """
    from kafka.spark.options.value_parsers import AtOffsets, AtTime

    location: Location = ("sources", name, "start")
    for option in source.options:
        if option.lower().startswith("starting"):
            location = ("sources", name, "options", option)
    partitions = sorted(each for each in state.starts if each.topic in topics)
    if isinstance(options.start, AtTime):
        _check_time(
            findings, location, options.start.timestamp_ms, partitions, state, offsets_at, round(clock() * 1000)
        )
    elif isinstance(options.start, AtOffsets):
        _check_offsets(findings, location, options.start.offsets, options.fail_on_data_loss, state)


def check_resume(
    findings: Findings,
    declaration: Declaration,
    sources: Mapping[str, ReadOptions | None],
    state: ClusterState,
) -> bool:
    """Check the offsets at which a pipeline resumes that has run before.

    Arguments:
        findings: collects the problems.
        declaration: the declaration.
        sources: the parsed options of the sources.
        state: what the brokers answered.

    Returns False if the pipeline has not run before, so that the start positions of its sources apply.
    """
    from kafka.pipelines.directories import directory_of
    from kafka.pipelines.stream_checkpoint import read_checkpoint

    location: Location = ("checkpoint",)
    try:
        offsets = read_checkpoint(directory_of(declaration).stream).last_end
    except KafkaConfigurationError as error:
        findings.error(location, str(error))
        return True
    if not offsets:
        return False
    fails = all(each is None or each.fail_on_data_loss for each in sources.values())
    report = findings.error if fails else findings.warning
    is_good = True
    for partition, offset in sorted(offsets.items()):
        first, end = state.starts.get(partition), state.ends.get(partition)
        shown = f"{partition.topic}-{partition.partition}"
        if first is not None and offset < first:
            report(location, f"{shown} resumes at offset {offset}, but the records before {first} are deleted")
        elif end is not None and offset > end:
            report(location, f"{shown} resumes at offset {offset}, but its log ends at {end}: was the topic recreated?")
        else:
            continue
        is_good = False
    if is_good:
        findings.passed(location, "the log contains the offsets at which the pipeline resumes")
    return True


def _check_time(
    findings: Findings,
    location: Location,
    start_ms: int,
    partitions: Collection[TopicPartition],
    state: ClusterState,
    offsets_at: OffsetsAt,
    now_ms: int,
) -> None:
    moment = _moment(start_ms)
    if start_ms > now_ms:
        findings.warning(location, f"the start, {moment}, is {duration(start_ms - now_ms)} in the future")
        return
    found = offsets_at(partitions, start_ms)
    gone = [
        each
        for each in partitions
        if state.starts[each] > 0 and found.get(each, state.ends.get(each)) == state.starts[each]
    ]
    if gone:
        kept = {state.topics[each.topic].number("retention.ms") for each in gone if each.topic in state.topics}
        limits = ", ".join(duration(each) for each in sorted(one for one in kept if one is not None and one >= 0))
        findings.warning(
            location,
            f"the start, {moment}, may be before the beginning of the log: the records of {_listed(gone)} before "
            f"offset {state.starts[gone[0]]} are deleted" + (f" (retention.ms: {limits})" if limits else ""),
        )
    elif without := [each for each in partitions if each not in found and state.ends.get(each, 0) > 0]:
        findings.warning(location, f"{_listed(without)} have no record since the start, {moment}")
    else:
        findings.passed(location, f"the log begins before {moment}")


def _check_offsets(
    findings: Findings,
    location: Location,
    offsets: Mapping[TopicPartition, int],
    fail_on_data_loss: bool,
    state: ClusterState,
) -> None:
    report = findings.error if fail_on_data_loss else findings.warning
    is_good = True
    for each, offset in sorted(offsets.items()):
        first, end = state.starts.get(each), state.ends.get(each)
        if offset < 0 or first is None or end is None:
            continue
        shown = f"{each.topic}-{each.partition}"
        if offset < first:
            report(location, f"{shown} starts at offset {offset}, but the records before {first} are deleted")
            is_good = False
        elif offset > end:
            findings.error(location, f"{shown} starts at offset {offset}, but its log ends at {end}")
            is_good = False
    if is_good:
        findings.passed(location, "the offsets exist")


def _listed(partitions: list[TopicPartition]) -> str:
    names = [f"{each.topic}-{each.partition}" for each in partitions]
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


def _moment(ms: int) -> str:
    try:
        return datetime.datetime.fromtimestamp(ms / 1000, datetime.UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (OverflowError, ValueError, OSError):
        return f"{ms} ms since 1970"
