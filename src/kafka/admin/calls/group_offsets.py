# Written by scripts/twins.py from kafka/admin/async_calls/group_offsets.py: change that file, not this one.
"""What groups have committed."""

from collections.abc import Iterable, Mapping
from typing import Any

from kafka.admin import arguments
from kafka.admin import group_offsets as _offsets
from kafka.admin.calls.base import AdminCalls
from kafka.errors import BrokerResponseError
from kafka.structs import OffsetAndMetadata, TopicPartition


class GroupOffsetCalls(AdminCalls):
    """What is done with the offsets that groups have committed."""

    def list_consumer_group_offsets(
        self,
        group_id: str,
        group_coordinator_id: int | None = None,
        partitions: Iterable[TopicPartition] | None = None,
    ) -> dict[TopicPartition, OffsetAndMetadata]:
        """What a group has committed, for these partitions; None: for all that it has committed for.

        A partition that was named but has no committed offset has offset -1.
        """
        wanted = None if partitions is None else arguments.partitions("partitions", partitions)
        group_id = arguments.name("group_id", group_id)
        return self._run(_offsets.list_consumer_group_offsets(self._requests, group_id, group_coordinator_id, wanted))

    def list_group_offsets(
        self, group_specs: Mapping[str, Iterable[TopicPartition] | None] | Iterable[str]
    ) -> dict[str, dict[TopicPartition, OffsetAndMetadata]]:
        """What groups have committed: group id to the partitions wanted, None: all; or just group ids."""
        if not isinstance(group_specs, Mapping):
            group_specs = dict.fromkeys(arguments.names("group_specs", group_specs))
        wanted = {
            arguments.name("group_specs", group_id): None if each is None else arguments.partitions("group_specs", each)
            for group_id, each in arguments.mapping("group_specs", group_specs).items()
        }
        return self._run(_offsets.list_group_offsets(self._requests, wanted))

    def alter_group_offsets(
        self,
        group_id: str,
        offsets: Mapping[TopicPartition, OffsetAndMetadata],
        group_coordinator_id: int | None = None,
    ) -> dict[TopicPartition, type[BrokerResponseError]]:
        """Commit offsets for a group that has no members: an error class for each, `NoError` for success."""
        group_id = arguments.name("group_id", group_id)
        wanted = {
            arguments.partition("offsets", tp): offset for tp, offset in arguments.mapping("offsets", offsets).items()
        }
        arguments.instances("offsets", OffsetAndMetadata, list(wanted.values()))
        if not wanted:
            return {}
        return self._run(_offsets.alter_group_offsets(self._requests, group_id, wanted, group_coordinator_id))

    def reset_group_offsets(
        self, group_id: str, offset_specs: Mapping[TopicPartition, int], group_coordinator_id: int | None = None
    ) -> dict[TopicPartition, dict[str, Any]]:
        """Move what a group without members has committed.

        Arguments:
            offset_specs: for each partition an `OffsetSpec`, an `OffsetTimestamp` or an offset; what the partition
                does not have becomes its first or last offset.

        Gives a dict of ``error``, a class, `NoError` for success, and ``offset``, what was committed.
        """
        group_id = arguments.name("group_id", group_id)
        wanted = {
            arguments.partition("offset_specs", tp): spec
            for tp, spec in arguments.mapping("offset_specs", offset_specs).items()
        }
        for spec in wanted.values():
            arguments.number("offset_specs", spec)
        if not wanted:
            return {}
        return self._run(_offsets.reset_group_offsets(self._requests, group_id, wanted, group_coordinator_id))

    def delete_group_offsets(
        self, group_id: str, partitions: Iterable[TopicPartition], group_coordinator_id: int | None = None
    ) -> dict[TopicPartition, type[BrokerResponseError]]:
        """Forget what a group has committed for partitions of topics that no member subscribes to.

        Gives an error class for each, `NoError` for success.
        """
        group_id, wanted = arguments.name("group_id", group_id), arguments.partitions("partitions", partitions)
        if not wanted:
            return {}
        return self._run(_offsets.delete_group_offsets(self._requests, group_id, wanted, group_coordinator_id))
