"""Reads the headers of pipelines' records from Arrow columns, without a Python object for each record.

`OwnHeaders` finds the headers that a pipeline added to the records of a batch: the last header `PIPELINE` of a record
and everything after it. Headers of the same names before it belong to the original record, which may itself be the
output or the dead letter of another pipeline. `kafka.pipelines.dead_letters` does the same for single records.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka.pipelines.record_headers import ATTEMPT, PIPELINE, RULE, SOURCE
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Mask = NDArray[np.bool_]

POSITION = r"^(?P<topic>[A-Za-z0-9._-]{1,249})/(?P<partition>[0-9]{1,9})/(?P<offset>[0-9]{1,18})(?:/(?P<id>[!-~]*))?$"
"""The value of the header `SOURCE`. Longer names and larger numbers than these do not occur in Kafka."""
MAX_ATTEMPT = 1_000_000
"""A larger number in the header `ATTEMPT` is not an attempt."""


class Positions(NamedTuple):
    """Positions in one partition.

    Arguments:
        partition: the partition of the source.
        topic_id: the id of its topic; empty if unknown.
        rows: the rows of the batch that contain the positions.
        offsets: the offset for each of the rows.
    """

    partition: TopicPartition
    topic_id: str
    rows: Integers
    offsets: Integers


class OwnHeaders:
    """The headers that a pipeline added to the records of a batch.

    Arguments:
        headers: the column `headers` of an Arrow batch: lists of structs of `key` (text) and `value` (binary).
    """

    def __init__(self, headers: Any) -> None:
        self.rows = len(headers)
        pairs = headers.flatten()
        names = pairs.field("key").dictionary_encode()
        self._codes = {name: code for code, name in enumerate(names.dictionary.to_pylist())}
        self._names = pc.fill_null(names.indices, -1).to_numpy(zero_copy_only=False)
        self._values = pairs.field("value")
        self._is_valid = _mask(pc.is_valid(self._values)) if self._values.null_count else None
        self._pipelines: Any = None
        self._parents: Integers = pc.list_parent_indices(headers).to_numpy(zero_copy_only=False).astype(np.int64)
        self._begins = self._own_begins()

    def _own_begins(self) -> Integers:
        """Return the index of the first header of each row that the pipeline added; 0 if there is none."""
        begins = np.zeros(self.rows, np.int64)
        last, found = self._last(PIPELINE, begins)
        begins[found] = last[found]
        return begins

    def _of(self, name: str, begins: Integers) -> Integers:
        """Return the indexes of the headers with a name and a value, from the given index on in each row."""
        found = np.flatnonzero(self._names == self._codes.get(name, -2))
        if self._is_valid is not None:
            found = found[self._is_valid[found]]
        return found[found >= begins[self._parents[found]]]

    def _last(self, name: str, begins: Integers) -> tuple[Integers, Mask]:
        """Return the index of each row's last header with a name, and which rows have one."""
        found = self._of(name, begins)
        last, present = np.zeros(self.rows, np.int64), np.zeros(self.rows, np.bool_)
        last[self._parents[found]] = found  # the last assignment to an index counts
        present[self._parents[found]] = True
        return last, present

    def _last_values(self, name: str) -> Any:
        """Return the value of each row's last header with a name, as a binary array; null for rows without it."""
        last, present = self._last(name, self._begins)
        return self._values.take(pa.array(last, mask=~present))

    def pipelines(self) -> Any:
        """Return the name of the pipeline in each row, as a binary array; null if a row has none."""
        if self._pipelines is None:
            self._pipelines = self._last_values(PIPELINE)
        return self._pipelines

    def are_of(self, pipeline: str | None) -> Mask:
        """Return which rows are of a pipeline; None stands for all rows, including those of no pipeline."""
        if pipeline is None:
            return np.ones(self.rows, np.bool_)
        same = pc.equal(self.pipelines(), pa.scalar(pipeline.encode(), pa.binary()))
        return _mask(same)

    def have_rule(self, rule: str) -> Mask:
        """Return which rows fail a rule."""
        found = self._of(RULE, self._begins)
        same = _mask(pc.equal(self._values.take(pa.array(found)), pa.scalar(rule.encode(), pa.binary())))
        mask = np.zeros(self.rows, np.bool_)
        mask[self._parents[found[same]]] = True
        return mask

    def rules(self, rows: Mask) -> tuple[Integers, Any]:
        """Return the rules of some rows: the row of each rule, and its name as a binary array.

        A row that names a rule twice fails it once.
        """
        found = self._of(RULE, self._begins)
        found = found[rows[self._parents[found]]]
        names = self._values.take(pa.array(found))
        codes = names.dictionary_encode().indices.to_numpy(zero_copy_only=False).astype(np.int64)
        pairs = np.stack([self._parents[found], codes], axis=1)
        kept = np.sort(np.unique(pairs, axis=0, return_index=True)[1]) if len(pairs) else np.empty(0, np.int64)
        return self._parents[found[kept]], names.take(pa.array(kept))

    def attempts(self) -> Integers:
        """Return the attempt of each row; 0 if a row has none."""
        given = self._last_values(ATTEMPT)
        numbers = pc.struct_field(pc.extract_regex(given, r"^(?P<n>[0-9]{1,7})$"), "n")
        found: Integers = _integers(numbers)
        return np.where(found > MAX_ATTEMPT, 0, found)

    def positions(self, rows: Mask | None = None) -> Iterator[Positions]:
        """Yield the positions of input records in the rows, grouped by partition.

        Arguments:
            rows: which rows to read; None for all.
        """
        parsed = pc.extract_regex(self._last_values(SOURCE), POSITION)
        wanted = _mask(pc.is_valid(parsed)) & (True if rows is None else rows)
        at = np.flatnonzero(wanted)
        if not len(at):
            return
        parsed = parsed.take(pa.array(at))
        topics, partitions, offsets, ids = (pc.struct_field(parsed, name) for name in _PARTS)
        texts = pc.binary_join_element_wise(topics, pc.fill_null(ids, b""), b"/").dictionary_encode()
        numbers = _integers(partitions)
        keys = (texts.indices.to_numpy(zero_copy_only=False).astype(np.int64) << 32) | numbers
        all_offsets = _integers(offsets)
        distinct, inverse = np.unique(keys, return_inverse=True)
        for index, key in enumerate(distinct.tolist()):
            members = np.flatnonzero(inverse == index) if len(distinct) > 1 else np.arange(len(at))
            topic, _, topic_id = texts.dictionary[key >> 32].as_py().decode().partition("/")
            partition = TopicPartition(topic, key & 0xFFFFFFFF)
            yield Positions(partition, topic_id, at[members], all_offsets[members])

    def without_position(self) -> Integers:
        """Return the rows without a valid position."""
        parsed = pc.extract_regex(self._last_values(SOURCE), POSITION)
        return np.flatnonzero(_mask(pc.is_null(parsed)))


_PARTS = ("topic", "partition", "offset", "id")


def _mask(booleans: Any) -> Mask:
    found: Mask = pc.fill_null(booleans, False).to_numpy(zero_copy_only=False).astype(np.bool_)
    return found


def _integers(digits: Any) -> Integers:
    """Parse a binary array of ASCII digits; 0 for null."""
    found: Integers = pc.fill_null(pc.cast(digits.cast(pa.string()), pa.int64()), 0).to_numpy(zero_copy_only=False)
    return found
