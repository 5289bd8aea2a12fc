"""How far groups are behind the ends of the partitions that they have committed for."""

from collections.abc import Sequence
from typing import Any

from kafka.admin.group_offsets import list_group_offsets
from kafka.admin.offset_spec import OffsetSpec
from kafka.admin.offsets import list_partition_offsets
from kafka.admin.requests import AdminRequests
from kafka.errors import KafkaError
from kafka.structs import TopicPartition

Lags = dict[TopicPartition, int | None]


async def group_lag(requests: AdminRequests, group_ids: Sequence[str]) -> dict[str, Lags]:
    """By group and partition, None where the end of the partition cannot be found. Raises what groups answer."""
    committed = await list_group_offsets(requests, dict.fromkeys(group_ids))
    wanted = sorted({tp for offsets in committed.values() for tp in offsets})
    specs = dict.fromkeys(wanted, OffsetSpec.LATEST)
    ends = await list_partition_offsets(requests, specs, raise_errors=False) if specs else {}
    lags: dict[str, Lags] = {}
    for group_id in group_ids:
        found = lags[group_id] = {}
        for tp, each in sorted(committed[group_id].items()):
            end: Any = ends[tp]  # or the error of the partition
            unknown = isinstance(end, KafkaError) or each.offset < 0
            found[tp] = None if unknown else max(0, end.offset - each.offset)
    return lags
