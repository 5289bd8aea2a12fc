"""The audit of a pipeline: whether each record of the source is accounted for, by partition and offset.

Each record must be in the sink, in the dead letters, or, as a new evaluation of the rules and the query confirms,
dropped or filtered out. `scope` determines the offsets to audit from the pipeline's directory (`micro_batches`).
`evidence` reads the source, the sink and the dead letters. `ledger` collects what is known of each offset, and
`offset_evidence` compares it. `batch_counts` compares the counts in events. `balance` has `audit`, which combines these
and returns an `AuditResult`; `faults` describes what it reports. `pipeline_audit` audits a declared pipeline, with
`audited_topics` for checks before it, and `recomputation` for the outcomes. For aggregating queries, `groups` compares
the counts of windows: `group_plans` finds the groups, `sink_rows` reads the sink, and `windows` compares.
"""

from __future__ import annotations

from kafka.pipelines.audit.audited_topics import check_topics
from kafka.pipelines.audit.balance import AuditResult, PartitionBalance, audit
from kafka.pipelines.audit.evidence import DeadOffsets, Evidence, KafkaEvidence, Offsets
from kafka.pipelines.audit.faults import Fault, FaultKind
from kafka.pipelines.audit.micro_batches import MicroBatch, micro_batches
from kafka.pipelines.audit.offset_evidence import Balance, Outcome
from kafka.pipelines.audit.pipeline_audit import audit_pipeline
from kafka.pipelines.audit.scope import Backfilled, Replayed, Scope, scope_of
from kafka.pipelines.audit.windows import GroupBalance, compare_groups

__all__ = [
    "AuditResult",
    "Backfilled",
    "Balance",
    "DeadOffsets",
    "Evidence",
    "Fault",
    "FaultKind",
    "GroupBalance",
    "KafkaEvidence",
    "MicroBatch",
    "Offsets",
    "Outcome",
    "PartitionBalance",
    "Replayed",
    "Scope",
    "audit",
    "audit_pipeline",
    "check_topics",
    "compare_groups",
    "micro_batches",
    "scope_of",
]
