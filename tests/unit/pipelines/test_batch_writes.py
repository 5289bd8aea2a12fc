"""Writes of micro-batches: what identifies their query, and what happens to the rows that Spark keeps for them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from kafka.errors import IllegalStateError
from kafka.pipelines import batch_writes
from kafka.pipelines.batch_writes import BatchWrite, StreamRun
from kafka.pipelines.declaration import Declaration

pytestmark = pytest.mark.once


def test_a_query_is_identified_by_its_checkpoint(tmp_path: Path) -> None:
    """With a new checkpoint, the numbers of micro-batches begin at 0 again."""
    run = StreamRun("delays", tmp_path)
    (tmp_path / "metadata").write_text(json.dumps({"id": "a"}))
    assert run() == "delays/stream/a"
    (tmp_path / "metadata").write_text(json.dumps({"id": "b"}))
    assert run() == "delays/stream/b"


def test_a_checkpoint_that_the_program_cannot_see_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(IllegalStateError) as raised:
        StreamRun("delays", tmp_path / "elsewhere")()
    text = str(raised.value)
    assert text.startswith(f"pipeline delays: expected the checkpoint of the query at {tmp_path}/elsewhere/metadata")
    assert "put 'checkpoint' on storage that has the same path" in text


class Batch:
    """The frame of a micro-batch, and the calls for it."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def persist(self) -> None:
        """Keep the rows."""
        self.calls.append("persist")

    def unpersist(self) -> None:
        """Do not keep the rows any more."""
        self.calls.append("unpersist")


class Write(BatchWrite):
    """Notes what is written; fails for micro-batch 13."""

    def write(self, frame: Any, number: int, options: Mapping[str, str] | None = None, count: Any = None) -> None:
        """Write a frame."""
        frame.calls.append((number, options))
        if number == 13:
            raise OSError("no space left")


def writes(out: dict[int, int] | None) -> Write:
    """Return the writes of a pipeline, whose combined frame is the micro-batch itself."""
    return Write(cast(Declaration, None), lambda batch: batch, {}, "p", lambda: "p/stream/a", out)


def test_the_rows_of_a_micro_batch_are_kept_while_it_is_written() -> None:
    batch = Batch()
    writes(None)(cast(Any, batch), 7, {"a": "b"})
    assert batch.calls == ["persist", (7, {"a": "b"}), "unpersist"]


def test_the_rows_of_a_micro_batch_that_fails_are_not_kept_either() -> None:
    batch = Batch()
    with pytest.raises(OSError, match="no space left"):
        writes(None)(cast(Any, batch), 13)
    assert batch.calls == ["persist", (13, None), "unpersist"]


def test_result_rows_are_counted_by_the_number_of_the_micro_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    class Counts:
        def __init__(self, name: str) -> None:
            pass

        def on(self, frame: Batch, columns: Any) -> Batch:
            frame.calls.append("counted")
            return frame

        def values(self) -> dict[str, int]:
            return {"out": 5}

    monkeypatch.setattr(batch_writes, "BatchCounts", Counts)
    monkeypatch.setattr(batch_writes, "result_counts", list)
    out: dict[int, int] = {}
    batch = Batch()
    writes(out)(cast(Any, batch), 7)
    assert (out, batch.calls) == ({7: 5}, ["persist", "counted", (7, None), "unpersist"])
    with pytest.raises(OSError, match="no space left"):
        writes(out)(cast(Any, Batch()), 13)
    assert out == {7: 5}, "a micro-batch that failed has no count"
