"""Reads Spark's checkpoint of a pipeline's stream: the offsets of its micro-batches, and which of them are committed.

Spark writes a file for each micro-batch: ``offsets/N`` when it plans the batch, with the end offsets of the sources,
and ``commits/N`` when the batch is complete. It keeps the last hundred of them. `checkpoint_layout` describes the
offsets. The checkpoint has to be in a local or mounted directory.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kafka.errors import KafkaConfigurationError
from kafka.spark.planning.checkpoint_layout import Offsets, from_layout
from kafka.structs import TopicPartition


@dataclasses.dataclass(frozen=True, slots=True)
class StreamCheckpoint:
    """The micro-batches in a checkpoint.

    Arguments:
        ends: the end offsets of each planned batch, by the number of the batch.
        initial: the offsets at which the query began, if the checkpoint still contains its first batch.
        committed: the number of the last complete batch; None if there is none.
        watermarks_ms: the watermark with which each batch was planned, in ms since 1970; 0 before there was one.
        times_ms: the time at which each batch was planned, in ms since 1970. A run that repeats a batch keeps it.
        commits_ms: the time at which each complete batch was committed, in ms since 1970, from Spark's files.
    """

    ends: Mapping[int, Offsets]
    initial: Offsets
    committed: int | None
    watermarks_ms: Mapping[int, int] = dataclasses.field(default_factory=dict)
    times_ms: Mapping[int, int] = dataclasses.field(default_factory=dict)
    commits_ms: Mapping[int, int] = dataclasses.field(default_factory=dict)

    @property
    def last_end(self) -> Offsets:
        """The end offsets of the last complete batch; {} if there is none."""
        return self.ends.get(self.committed, {}) if self.committed is not None else {}

    @property
    def unfinished(self) -> int | None:
        """The number of a batch that is planned but not complete; None if there is none."""
        newest = max(self.ends, default=-1)
        return newest if newest > (-1 if self.committed is None else self.committed) else None

    @property
    def unfinished_ranges(self) -> dict[TopicPartition, tuple[int, int]]:
        """The offsets of the unfinished batch: start and end (exclusive) by partition; {} if there is none."""
        number = self.unfinished
        if number is None:
            return {}
        starts = self.ends.get(number - 1, {}) if number else self.initial
        found = {each: (starts.get(each, 0), end) for each, end in self.ends[number].items()}
        return {each: (start, end) for each, (start, end) in found.items() if start < end}


def read_checkpoint(directory: Path) -> StreamCheckpoint:
    """Read a checkpoint. The result is empty if the directory does not exist.

    Arguments:
        directory: the checkpoint of the stream.

    Raises `KafkaConfigurationError` if it contains something else than Spark's files.
    """
    commits = dict(_numbered(directory / "commits"))  # first: Spark plans a batch before it commits it
    ends: dict[int, Offsets] = {}
    initial: Offsets = {}
    watermarks: dict[int, int] = {}
    times: dict[int, int] = {}
    for number, path in _numbered(directory / "offsets"):
        ends[number] = {}
        for key, found in (("batchWatermarkMs", watermarks), ("batchTimestampMs", times)):
            value = _metadata(path).get(key)
            if isinstance(value, int):
                found[number] = value
        for layout in _layouts(path):
            ends[number] |= _offsets(path, layout, False)
            if number == 0:
                initial |= _offsets(path, layout, True)
    commits_ms: dict[int, int] = {}
    for number, path in commits.items():
        with contextlib.suppress(FileNotFoundError):  # Spark has removed it since the directory was listed
            commits_ms[number] = path.stat().st_mtime_ns // 1_000_000
    return StreamCheckpoint(ends, initial, max(commits, default=None), watermarks, times, commits_ms)


def _metadata(path: Path) -> Mapping[str, Any]:
    """Return the second line of a file of offsets, which is JSON with the time and the watermark; {} if it is not."""
    try:
        found = json.loads(path.read_text(encoding="utf-8").splitlines()[1])
    except (OSError, ValueError, IndexError):
        return {}
    return found if isinstance(found, dict) else {}


def _numbered(folder: Path) -> Iterator[tuple[int, Path]]:
    """Yield Spark's files in ascending order. Temporary files and checksums have other names."""
    if folder.is_dir():
        yield from sorted((int(path.name), path) for path in folder.iterdir() if path.name.isdecimal())


def _layouts(path: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the offsets of each source in a file: a line of JSON for each, after two other lines."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()[2:]
    except FileNotFoundError:  # Spark has removed it since the directory was listed
        return
    except (OSError, UnicodeDecodeError) as error:
        raise KafkaConfigurationError(f"{path}: cannot be read: {error}") from error
    for line in lines:
        try:
            found = json.loads(line)
        except ValueError:
            continue  # "-" stands for a source without an offset
        if isinstance(found, dict):
            yield from _of_sources(found)


def _of_sources(found: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the offsets of all sources in a line, which may have a source's offsets as text below its name."""
    texts = [value for value in found.values() if isinstance(value, str)]
    if not texts:
        return [found]
    nested = []
    for text in texts:
        try:
            nested.append(json.loads(text))
        except ValueError:
            continue
    return [each for each in nested if isinstance(each, dict)]


def _offsets(path: Path, layout: Mapping[str, Any], initial: bool) -> Offsets:
    try:
        return from_layout(layout, initial=initial)
    except KafkaConfigurationError:
        if any(not isinstance(each, dict) for each in layout.values()):
            return {}  # a source that does not read Kafka, such as files
        raise KafkaConfigurationError(f"{path}: expected offsets of Kafka sources, got {dict(layout)!r:.200}") from None
