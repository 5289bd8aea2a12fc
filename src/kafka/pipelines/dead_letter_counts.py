"""Counts dead letters by rule, in columns. `kafka.pipelines.dead_letters` reads them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow.compute as pc

from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from kafka.pipelines.header_columns import Mask, OwnHeaders

NO_RULE = ""
"""Stands for the rule of a record that names no rule, such as a dead letter of Kafka Connect."""


class RuleCount(NamedTuple):
    """The dead letters of a rule.

    Arguments:
        letters: number of dead letters.
        superseded: how many of them were replayed and rejected again: a later attempt of the same input record exists.
        open: how many of them are neither superseded nor processed by a replay.
    """

    letters: int
    superseded: int
    open: int


@dataclasses.dataclass(frozen=True, slots=True)
class Count:
    """The number of dead letters in a selection.

    Arguments:
        letters: number of dead letters.
        superseded: how many of them have a later attempt.
        rules: the counts by rule, the most frequent first. A dead letter that fails two rules is counted for both;
            `NO_RULE` stands for records that name no rule.
        others: number of records in the same range that are not of the selected pipeline.
        open: number of dead letters that are neither superseded nor processed by a replay.
    """

    letters: int
    superseded: int
    rules: Mapping[str, RuleCount]
    others: int
    open: int


class Counter:
    """Counts dead letters from the headers of batches, in columns.

    It keeps about 50 bytes for each dead letter, to find out which of them have a later attempt.
    """

    def __init__(self) -> None:
        self._letters = self._others = 0
        self._rules: dict[bytes, int] = {}
        self._pipelines: dict[bytes | None, int] = {}
        self._sources: dict[tuple[TopicPartition, str], int] = {}
        self._keys: list[Any] = []
        self._replayed: list[Mask] = []
        self._pairs: list[Any] = []

    def add(self, own: OwnHeaders, wanted: Mask, is_mine: Mask, is_replayed: Mask) -> None:
        """Count the wanted rows of a batch.

        Arguments:
            own: the headers of the batch.
            wanted: which rows to count.
            is_mine: which rows are of the selected pipeline.
            is_replayed: which rows a replay has processed.
        """
        first, rows = self._letters, np.flatnonzero(wanted)
        self._letters += len(rows)
        self._others += int(own.rows - is_mine.sum())
        numbers = np.full(own.rows, -1, np.int64)
        numbers[rows] = np.arange(first, first + len(rows))
        pipelines = own.pipelines().dictionary_encode()
        names = [self._pipelines.setdefault(each, len(self._pipelines)) for each in pipelines.dictionary.to_pylist()]
        codes = pc.fill_null(pipelines.indices, len(names)).to_numpy(zero_copy_only=False)
        by_pipeline = np.array([*names, self._pipelines.setdefault(None, len(self._pipelines))], np.int64)[codes]
        attempts = own.attempts()
        keys = np.full((len(rows), 4), -1, np.int64)
        keys[:, 1] = rows  # for records without a position, which are all different
        for tp, topic_id, members, offsets in own.positions(wanted):
            source = self._sources.setdefault((tp, topic_id), len(self._sources))
            at = numbers[members] - first
            keys[at] = np.stack([np.full(len(at), source), offsets, by_pipeline[members], attempts[members]], axis=1)
        self._keys.append(keys)
        self._replayed.append(is_replayed[rows])
        self._add_rules(own, wanted, numbers)

    def _add_rules(self, own: OwnHeaders, wanted: Mask, numbers: Any) -> None:
        rows, names = own.rules(wanted)
        encoded = names.dictionary_encode()
        ids = [self._rules.setdefault(each, len(self._rules)) for each in encoded.dictionary.to_pylist()]
        codes = encoded.indices.to_numpy(zero_copy_only=False)
        unnamed = wanted.copy()
        unnamed[rows] = False
        nameless = np.flatnonzero(unnamed)
        if len(nameless):
            none = self._rules.setdefault(NO_RULE.encode(), len(self._rules))
            self._pairs.append(np.stack([numbers[nameless], np.full(len(nameless), none)], axis=1))
        if len(rows):
            self._pairs.append(np.stack([numbers[rows], np.array(ids, np.int64)[codes]], axis=1))

    def result(self) -> Count:
        """Return the counts."""
        later = self._superseded()
        pairs = np.concatenate(self._pairs) if self._pairs else np.empty((0, 2), np.int64)
        counts = np.bincount(pairs[:, 1], minlength=len(self._rules)).tolist()
        again = np.bincount(pairs[later[pairs[:, 0]], 1], minlength=len(self._rules)).tolist()
        is_open = ~later
        if self._replayed:
            is_open &= ~np.concatenate(self._replayed)
        still = np.bincount(pairs[is_open[pairs[:, 0]], 1], minlength=len(self._rules)).tolist()
        rules = {
            name.decode("utf-8", "replace"): RuleCount(counts[index], again[index], still[index])
            for name, index in sorted(self._rules.items(), key=lambda each: (-counts[each[1]], each[0]))
        }
        return Count(self._letters, int(later.sum()), rules, self._others, int(is_open.sum()))

    def _superseded(self) -> Mask:
        """Return which dead letters have a later attempt of the same input record and pipeline."""
        keys = np.concatenate(self._keys) if self._keys else np.empty((0, 4), np.int64)
        later = np.zeros(len(keys), np.bool_)
        if not len(keys):
            return later
        order = np.lexsort(keys.T[::-1])
        ordered = keys[order]
        begins = np.flatnonzero(np.r_[True, (ordered[1:, :3] != ordered[:-1, :3]).any(axis=1)])
        ends = np.r_[begins[1:], len(keys)]
        newest = np.repeat(ordered[ends - 1, 3], ends - begins)
        later[order] = (ordered[:, 3] < newest) & (ordered[:, 0] >= 0)
        return later
