"""Methods for the committed offsets of groups."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from kafka.admin import arguments
from kafka.admin import group_offsets as _offsets
from kafka.admin import share_group_offsets as _share
from kafka.admin._async import AsyncAdminCalls
from kafka.admin.group_offsets import GivenTarget, Target
from kafka.admin.share_group_offsets import SharePartitionOffset
from kafka.display import check_matplotlib
from kafka.errors import BrokerResponseError
from kafka.structs import OffsetAndMetadata, TopicPartition

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class AsyncGroupOffsetCalls(AsyncAdminCalls):
    """Methods for the committed offsets of groups."""

    async def list_consumer_group_offsets(
        self,
        group_id: str,
        group_coordinator_id: int | None = None,
        partitions: Iterable[TopicPartition] | None = None,
    ) -> dict[TopicPartition, OffsetAndMetadata]:
        """List the committed offsets of a group.

        Arguments:
            group_id: the group.
            group_coordinator_id: the group's coordinator, if known; None looks it up.
            partitions: the partitions; None: all partitions with a committed offset.

        If a given partition has no committed offset, its offset in the result is -1.

        Like Java's `Admin.listConsumerGroupOffsets`.
        """
        wanted = None if partitions is None else arguments.partitions("partitions", partitions)
        group_id = arguments.name("group_id", group_id)
        return await self._run(
            _offsets.list_consumer_group_offsets(self._requests, group_id, group_coordinator_id, wanted)
        )

    async def list_group_offsets(
        self,
        group_specs: Mapping[str, Iterable[TopicPartition] | None] | Iterable[str],
        require_stable: bool = False,
        raise_errors: bool = True,
    ) -> dict[str, dict[TopicPartition, OffsetAndMetadata]]:
        """List the committed offsets of several groups, which must not be share groups.

        Arguments:
            group_specs: a mapping of group id to partitions (None: all partitions), or group ids only.
            require_stable: wait until open transactions that include offsets have ended (KIP-447, Kafka 2.5).
            raise_errors: raise the first error; if False, the result contains a `KafkaError` for each group or
                partition that failed.

        Returns, for each group, the same as `list_consumer_group_offsets`.

        Like Java's `Admin.listConsumerGroupOffsets` and `Admin.listStreamsGroupOffsets`.
        """
        wanted = _by_group(group_specs)
        return await self._run(
            _offsets.list_group_offsets(
                self._requests, wanted, require_stable=require_stable, raise_errors=raise_errors
            )
        )

    async def plot_lag(self, group_ids: Iterable[str] | str) -> "Figure":
        """Plot the lag of groups in a figure with one bar for each partition that has a committed offset.

        Shows at most the twenty partitions with the highest lag; the title shows the total. Requires the extra "plot".

        Arguments:
            group_ids: one group or several, which must not be share groups.

        Raises `ImportError` if matplotlib is not installed, and the errors of `list_group_offsets`.
        """
        check_matplotlib("plot_lag()")
        from kafka.display.figures import lag_figure

        wanted = list(dict.fromkeys(arguments.names("group_ids", group_ids)))
        found = await self._run(_offsets.group_lag(self._requests, wanted))
        several = len(found) > 1
        lags = {
            f"{group_id}: {tp.topic}-{tp.partition}" if several else f"{tp.topic}-{tp.partition}": lag
            for group_id, of_group in found.items()
            for tp, lag in of_group.items()
        }
        return lag_figure(", ".join(found), lags)

    async def alter_group_offsets(
        self,
        group_id: str,
        offsets: Mapping[TopicPartition, OffsetAndMetadata],
        group_coordinator_id: int | None = None,
    ) -> dict[TopicPartition, type[BrokerResponseError]]:
        """Commit offsets for a group without members.

        Arguments:
            group_id: the group.
            offsets: a mapping of partition to the offset of the next record to read, with metadata.
            group_coordinator_id: the group's coordinator, if known; None looks it up.

        Returns an error class for each partition; `NoError` means success.

        Like Java's `Admin.alterConsumerGroupOffsets` and `Admin.alterStreamsGroupOffsets`.
        """
        group_id = arguments.name("group_id", group_id)
        wanted = {
            arguments.partition("offsets", tp): offset for tp, offset in arguments.mapping("offsets", offsets).items()
        }
        arguments.instances("offsets", OffsetAndMetadata, list(wanted.values()))
        if not wanted:
            return {}
        return await self._run(_offsets.alter_group_offsets(self._requests, group_id, wanted, group_coordinator_id))

    async def reset_group_offsets(
        self,
        group_id: str,
        offset_specs: Mapping[TopicPartition | str, GivenTarget] | GivenTarget,
        group_coordinator_id: int | None = None,
        dry_run: bool = False,
    ) -> dict[TopicPartition, dict[str, Any]]:
        """Reset the committed offsets of a group without members.

        Arguments:
            group_id: the group.
            offset_specs: a mapping of partition or topic to target, or a single target for all partitions with a
                committed offset. A target is an `OffsetSpec`; an `OffsetTimestamp` or a `datetime` (local time if it
                has no time zone); a `timedelta` before now; an `OffsetShift` in records; or an offset. A target outside
                the range of a partition is moved to the partition's first or last offset.
            group_coordinator_id: the group's coordinator, if known; None looks it up.
            dry_run: only find the new offsets, and check whether they could be committed.

        Returns a dict for each partition: ``error``, an error class (`NoError` for success), and ``offset``, the new
        offset or -1. Partition errors are not raised. While the group has members, the error of each partition is
        `UnknownMemberIdError`, even in a dry run.

        Like Java's `Admin.alterConsumerGroupOffsets` and `Admin.alterStreamsGroupOffsets`.
        """
        group_id, what = arguments.name("group_id", group_id), "offset_specs"
        wanted: Mapping[TopicPartition | str, Target] | Target
        if isinstance(offset_specs, Mapping):
            wanted = {
                tp if isinstance(tp, str) else arguments.partition(what, tp): _offsets.check_target(what, spec)
                for tp, spec in offset_specs.items()
            }
        else:
            wanted = _offsets.check_target(what, offset_specs)
        return await self._run(
            _offsets.reset_group_offsets(self._requests, group_id, wanted, group_coordinator_id, dry_run)
        )

    async def delete_group_offsets(
        self, group_id: str, partitions: Iterable[TopicPartition], group_coordinator_id: int | None = None
    ) -> dict[TopicPartition, type[BrokerResponseError]]:
        """Delete a group's committed offsets for partitions of topics to which no member subscribes.

        Arguments:
            group_id: the group.
            partitions: the partitions.
            group_coordinator_id: the group's coordinator, if known; None looks it up.

        Returns an error class for each partition; `NoError` means success.

        Like Java's `Admin.deleteConsumerGroupOffsets` and `Admin.deleteStreamsGroupOffsets`. Requires Kafka 2.4.
        """
        group_id, wanted = arguments.name("group_id", group_id), arguments.partitions("partitions", partitions)
        if not wanted:
            return {}
        return await self._run(_offsets.delete_group_offsets(self._requests, group_id, wanted, group_coordinator_id))

    async def list_share_group_offsets(
        self,
        group_specs: Mapping[str, Iterable[TopicPartition] | None] | Iterable[str],
        raise_errors: bool = True,
    ) -> dict[str, dict[TopicPartition, SharePartitionOffset]]:
        """List the start offsets of share groups (KIP-932, Kafka 4.1).

        Arguments:
            group_specs: a mapping of group id to partitions (None: all partitions), or group ids only.
            raise_errors: raise the first error; if False, the result contains a `KafkaError` for each group or
                partition that failed.

        Returns the offsets by group and partition.

        Like Java's `Admin.listShareGroupOffsets`. Requires Kafka 4.1.
        """
        wanted = _by_group(group_specs)
        return await self._run(_share.list_share_group_offsets(self._requests, wanted, raise_errors))

    async def alter_share_group_offsets(
        self, group_id: str, offsets: Mapping[TopicPartition, int]
    ) -> dict[TopicPartition, type[BrokerResponseError]]:
        """Change the start offsets of a share group without members.

        Arguments:
            group_id: the share group.
            offsets: a mapping of partition to the first offset to acquire.

        Returns an error class for each partition; `NoError` means success.

        Like Java's `Admin.alterShareGroupOffsets`. Requires Kafka 4.1.
        """
        group_id, what = arguments.name("group_id", group_id), "offsets"
        wanted = {
            arguments.partition(what, tp): arguments.number(what, offset)
            for tp, offset in arguments.mapping(what, offsets).items()
        }
        return await self._run(_share.alter_share_group_offsets(self._requests, group_id, wanted))

    async def delete_share_group_offsets(
        self, group_id: str, topics: Iterable[str]
    ) -> dict[str, type[BrokerResponseError]]:
        """Delete a share group's offsets for topics. The group must not have members.

        Arguments:
            group_id: the share group.
            topics: the topics by name.

        Returns an error class for each topic; `NoError` means success.

        Like Java's `Admin.deleteShareGroupOffsets`. Requires Kafka 4.1.
        """
        group_id, names = arguments.name("group_id", group_id), arguments.names("topics", topics)
        return await self._run(_share.delete_share_group_offsets(self._requests, group_id, names))


def _by_group(given: Any) -> dict[str, list[TopicPartition] | None]:
    """Return the partitions of each group; None stands for all partitions of a group."""
    what = "group_specs"
    if not isinstance(given, Mapping):
        return dict.fromkeys(arguments.names(what, given))
    return {
        arguments.name(what, group_id): None if each is None else arguments.partitions(what, each)
        for group_id, each in given.items()
    }
