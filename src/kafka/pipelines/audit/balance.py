"""Balances a pipeline: compares the records in its source with the sink, the dead letters and the events.

`audit` collects the evidence slice by slice (`ledger`), so that memory is bounded however many records there are, and
returns an `AuditResult`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kafka.consumer.bounds import OffsetRange
from kafka.pipelines.audit.batch_counts import BatchComparison
from kafka.pipelines.audit.evidence import Evidence
from kafka.pipelines.audit.faults import Fault, FaultKind, FaultList, ranges_of
from kafka.pipelines.audit.ledger import Ledger
from kafka.pipelines.audit.micro_batches import gaps, overlaps, without_event
from kafka.pipelines.audit.offset_evidence import Balance, Reader
from kafka.pipelines.audit.scope import Scope, Slice
from kafka.pipelines.audit.windows import GroupBalance
from kafka.structs import TopicPartition, is_another_topic

MAX_OFFSETS = 20_000_000
"""Number of offsets whose evidence is in memory at a time: about 10 bytes for each."""
_MAX_DETAILS = 5
_MAX_STRANGERS = 100_000
"""Maximum number of positions outside all logs that are kept for the report."""


@dataclasses.dataclass(frozen=True, slots=True)
class PartitionBalance:
    """The balance of a partition of the source.

    Arguments:
        partition: the partition.
        start, end: the offsets that were audited; `end` is exclusive.
        balance: what became of the records.
        faults: number of offsets with a fault, by kind.
    """

    partition: TopicPartition
    start: int
    end: int
    balance: Balance
    faults: int


@dataclasses.dataclass(frozen=True, slots=True)
class AuditResult:
    """The result of an audit.

    Arguments:
        partitions: the balance of each partition.
        faults: what is wrong, by partition and kind; empty if everything adds up.
        late: number of rows that Spark dropped because they were older than the watermark.
        notes: what the audit could not examine, as sentences.
        groups: the comparison of windows, for an aggregating query; None if they were not compared. Its faults are
            among `faults`.
    """

    partitions: tuple[PartitionBalance, ...]
    faults: tuple[Fault, ...]
    late: int = 0
    notes: tuple[str, ...] = ()
    groups: GroupBalance | None = None

    @property
    def balances(self) -> bool:
        """Whether each record is accounted for and nothing else was found."""
        return not self.faults

    @property
    def total(self) -> Balance:
        """The sum of all partitions."""
        total = Balance()
        for each in self.partitions:
            for field in dataclasses.fields(Balance):
                value = getattr(total, field.name) + getattr(each.balance, field.name)
                setattr(total, field.name, value)
        return total

    def with_notes(self, notes: Sequence[str]) -> AuditResult:
        """Return the same result with more notes."""
        return dataclasses.replace(self, notes=(*self.notes, *notes))

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each partition: topic, partition, offsets, and what became of the records."""
        return [
            {
                "topic": each.partition.topic,
                "partition": each.partition.partition,
                "start": each.start,
                "end": each.end,
                "in": each.balance.records,
                "out": each.balance.out,
                "filtered": each.balance.filtered,
                "dropped": each.balance.dropped,
                "dead": each.balance.dead,
                "replayed": each.balance.replayed,
                "rows_out": each.balance.rows_out,
                "faults": each.faults,
            }
            for each in self.partitions
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as values for JSON."""
        return {
            "balances": self.balances,
            "partitions": self.rows(),
            "late": self.late,
            "faults": [each.to_dict() for each in self.faults],
            "notes": list(self.notes),
            "groups": None if self.groups is None else self.groups.to_dict(),
        }


def audit(
    scope: Scope,
    evidence: Evidence,
    *,
    positions: bool = True,
    exact: bool = True,
    max_offsets: int = MAX_OFFSETS,
) -> AuditResult:
    """Balance the records in a scope.

    Arguments:
        scope: the offsets, and who read them.
        evidence: where to find the records and what became of them.
        positions: whether rows in the sink have the positions of their input records, as those of row-by-row queries.
            Otherwise, the audit compares dead letters by offset, and everything else by counts.
        exact: whether outcomes are those of the declaration with which the records were processed. If the declaration
            has changed since, pass False: a record may then be in the sink or in the dead letters, whatever its
            outcome.
        max_offsets: maximum number of offsets whose evidence is in memory at a time; the sink and the dead letters are
            read once for each such part.
    """
    return _Audit(scope, evidence, positions, exact).run(max_offsets)


class _Audit:
    def __init__(self, scope: Scope, evidence: Evidence, positions: bool, exact: bool) -> None:
        self._evidence = evidence
        self._positions = positions
        self._exact = exact
        self._faults = FaultList()
        self._notes: list[str] = []
        self._ids = evidence.topic_ids()
        self._compacted = evidence.compacted()
        self._begin = evidence.bounds()
        self._scope = self._existing(scope)
        self._batches = BatchComparison(
            self._scope,
            exact=exact,
            compacted=self._compacted,
            evaluated=evidence.is_evaluated,
            positions=positions,
        )
        self._strangers: dict[tuple[FaultKind, TopicPartition], list[Any]] = {}
        self._earlier = 0
        self._topics = {tp.topic for tp in self._begin}
        self._stream = scope.stream
        self._has_reads = bool(scope.batches or scope.backfills)

    def _existing(self, scope: Scope) -> Scope:
        """Limit the scope to offsets that the logs still contain, and note the others."""
        bounds = {}
        for tp, (start, end) in sorted(scope.ranges.items()):
            there = self._begin.get(tp)
            if there is None:
                self._notes.append(f"{tp.topic}-{tp.partition} does not exist any more and was not audited")
            elif there.start > start:
                self._notes.append(
                    f"{tp.topic}-{tp.partition}: offsets {start}-{min(end, there.start) - 1} are deleted from the "
                    "log and were not audited"
                )
            bounds[tp] = there or OffsetRange(0, 0)
        return scope.within(bounds)

    def run(self, max_offsets: int) -> AuditResult:
        """Audit one slice after the other."""
        balances: dict[TopicPartition, Balance] = {tp: Balance() for tp in self._scope.ranges}
        for number, part in enumerate(self._scope.slices(max_offsets)):
            ledgers = self._filled(part, is_first=number == 0)
            for tp, ledger in ledgers.items():
                _add(balances[tp], ledger.examine(self._faults))
                self._batches.add(tp, ledger)
        self._add_strangers()
        for detail in self._batches.differences():
            self._faults.add_detail(FaultKind.COUNTS_DIFFER, detail)
        if missing := without_event(self._scope.batches):
            self._notes.append(f"{len(missing):,} micro-batches have no event, the first is {missing[0]}")
        runs = self._scope.backfills, self._scope.replays
        if any(each.current for some in runs for each in some):
            self._notes.append("records that an unfinished replay or backfill may have processed were not audited")
        if self._earlier:
            self._notes.append(f"{self._earlier:,} positions are those of deleted topics of the same name")
        faults = self._explained(self._faults.faults())
        partitions = [
            PartitionBalance(tp, start, end, balances[tp], sum(each.count for each in faults if each.partition == tp))
            for tp, (start, end) in sorted(self._scope.ranges.items())
        ]
        return AuditResult(tuple(partitions), tuple(faults), self._scope.late, tuple(self._notes))

    def _filled(self, part: Slice, is_first: bool) -> dict[TopicPartition, Ledger]:
        """Return ledgers with all evidence for a slice."""
        ledgers = {
            tp: Ledger(
                tp,
                start,
                end,
                positions=self._positions,
                exact=self._exact,
                compacted=tp.topic in self._compacted,
                stream=self._stream.get(tp, OffsetRange(0, 0)) if self._has_reads else None,
            )
            for tp, (start, end) in part.items()
        }
        self._cover(ledgers)
        if self._positions:
            for each in self._evidence.sink():
                self._add_positions(ledgers, each.partition, each.topic_id, each.offsets, None, is_first)
        for letters in self._evidence.dead():
            given = letters.attempts, letters.replayed
            self._add_positions(ledgers, letters.partition, letters.topic_id, letters.offsets, given, is_first)
        for offsets in self._evidence.log(part):
            ledgers[offsets.partition].add_log(offsets.offsets)
        for replay, outcomes in ((False, self._evidence.outcomes(part)), (True, self._evidence.replay_outcomes(part))):
            if outcomes is None:
                continue
            if not replay:
                for ledger in ledgers.values():
                    ledger.evaluated()
            for offsets, codes in outcomes:
                if offsets.partition in ledgers:
                    ledgers[offsets.partition].add_outcomes(offsets.offsets, codes, replay=replay)
        return ledgers

    def _cover(self, ledgers: Mapping[TopicPartition, Ledger]) -> None:
        """Note in ledgers who read which offsets."""
        reads: list[tuple[Reader, Mapping[TopicPartition, OffsetRange]]] = [
            (Reader.BATCH, batch.ranges) for batch in self._scope.batches
        ]
        for backfill in self._scope.backfills:
            reads.append((Reader.BACKFILL if backfill.same_sink else Reader.ELSEWHERE, backfill.ranges))
            reads.append((Reader.UNFINISHED, backfill.current))
        for by, ranges in reads:
            for tp in ranges.keys() & ledgers.keys():
                ledgers[tp].cover(*ranges[tp], by)
        if not self._has_reads:
            for ledger in ledgers.values():
                ledger.cover(ledger.start, ledger.end, Reader.BATCH)

    def _add_positions(
        self,
        ledgers: Mapping[TopicPartition, Ledger],
        tp: TopicPartition,
        topic_id: str,
        offsets: Any,
        letters: tuple[Any, Any] | None,
        is_first: bool,
    ) -> None:
        """Add positions from the sink or the dead letters to their ledger.

        Positions of other topics, and of deleted topics of the same name, are ignored.
        """
        if is_another_topic(topic_id or None, self._ids.get(tp.topic)):
            self._earlier += len(offsets) if is_first else 0
            return
        if tp in ledgers and letters is None:
            ledgers[tp].add_sink(offsets)
        elif tp in ledgers and letters is not None:
            ledgers[tp].add_dead(offsets, *letters)
        if is_first and tp.topic in self._topics:
            beyond = offsets[offsets >= self._end_of(tp)]
            kind = FaultKind.ROW_WITHOUT_INPUT if letters is None else FaultKind.DEAD_WITHOUT_INPUT
            kept = self._strangers.setdefault((kind, tp), [])
            if len(beyond) and sum(map(len, kept)) < _MAX_STRANGERS:
                kept.append(beyond)

    def _end_of(self, tp: TopicPartition) -> int:
        return self._begin[tp].end if tp in self._begin else 0

    def _add_strangers(self) -> None:
        """Report positions beyond the ends of the logs. The logs may have grown since the audit began."""
        if not any(self._strangers.values()):
            return
        now = self._evidence.bounds()
        for (kind, tp), kept in self._strangers.items():
            if kept:
                offsets = np.concatenate(kept)
                end = now[tp].end if tp in now else 0
                self._faults.add(kind, tp, ranges_of(offsets[offsets >= end]))

    def _explained(self, faults: Sequence[Fault]) -> list[Fault]:
        """Add to skipped and repeated offsets between which micro-batches they lie."""
        found = {
            FaultKind.SKIPPED: list(gaps(self._scope.batches)),
            FaultKind.READ_TWICE: list(overlaps(self._scope.batches)),
        }
        explained = []
        for fault in faults:
            texts = [
                text
                for tp, (start, end), text in found.get(fault.kind, ())
                if tp == fault.partition and any(each.start < end and start < each.end for each in fault.ranges)
            ]
            detail = "; ".join(texts[:_MAX_DETAILS]) + ("; ..." if len(texts) > _MAX_DETAILS else "")
            explained.append(dataclasses.replace(fault, detail=detail) if detail else fault)
        return explained


def _add(total: Balance, more: Balance) -> None:
    for field in dataclasses.fields(Balance):
        setattr(total, field.name, getattr(total, field.name) + getattr(more, field.name))
