"""The directory of a pipeline: Spark's checkpoint, events, and the progress of replays and backfills.

Layout::

    stream/          the checkpoint of the running query
    markers/         rows that advance the watermark of the running query when it ends (`window_flush`)
    events/          a file of JSON lines for each run (`events`)
    replays/N/       the plan and progress of the Nth replay
    first_backfill/  the plan and progress of the backfill before the stream
    backfills/N/     the plan and progress of the Nth backfill
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafka.pipelines.declaration import Declaration


@dataclasses.dataclass(frozen=True, slots=True)
class PipelineDirectory:
    """The paths within the directory of a pipeline.

    Arguments:
        base: the directory.
    """

    base: Path

    @property
    def stream(self) -> Path:
        return self.base / "stream"

    @property
    def markers(self) -> Path:
        return self.base / "markers"

    @property
    def events(self) -> Path:
        return self.base / "events"

    @property
    def replays(self) -> Path:
        return self.base / "replays"

    @property
    def first_backfill(self) -> Path:
        return self.base / "first_backfill"

    @property
    def backfills(self) -> Path:
        return self.base / "backfills"


def directory_of(declaration: Declaration) -> PipelineDirectory:
    """Return the directory of a pipeline. It is absolute, because the JVM may have another working directory."""
    return PipelineDirectory(Path(declaration.canonical().checkpoint or "").absolute())
