"""Methods for groups."""

from collections.abc import Iterable
from typing import Any

from kafka.admin import arguments
from kafka.admin import group_descriptions as _descriptions
from kafka.admin import groups as _groups
from kafka.admin._async import AsyncAdminCalls
from kafka.admin.group_descriptions import DescribedGroups
from kafka.admin.groups import GroupState, GroupType, ListedGroup, ListedGroups, MemberToRemove, remove_group_members
from kafka.errors import BrokerResponseError, KafkaError, NoError


class AsyncGroupCalls(AsyncAdminCalls):
    """Methods for groups."""

    async def list_consumer_groups(self, broker_ids: Iterable[int] | None = None) -> list[ListedGroup]:
        """List groups as pairs of group id and protocol type.

        Arguments:
            broker_ids: the brokers whose groups to list; None: all brokers.

        Each pair has the group's ``state`` as an attribute.

        Like Java's `Admin.listConsumerGroups`.
        """
        ids = None if broker_ids is None else arguments.numbers("broker_ids", broker_ids)
        return await self._run(_groups.list_consumer_groups(self._requests, ids))

    async def describe_consumer_groups(
        self,
        group_ids: Iterable[str],
        group_coordinator_id: int | None = None,
        include_authorized_operations: bool = False,
    ) -> DescribedGroups:
        """Describe consumer groups with their members, subscriptions and assignments.

        Arguments:
            group_ids: the groups.
            group_coordinator_id: the groups' coordinator, if known; None looks it up.
            include_authorized_operations: include the operations that this client may perform.

        Returns a list, which can also be indexed by group id. A group that does not exist is in state "Dead".

        Like Java's `Admin.describeConsumerGroups`.
        """
        ids = arguments.names("group_ids", group_ids)
        return await self._run(
            _descriptions.describe_consumer_groups(
                self._requests, ids, group_coordinator_id, include_authorized_operations
            )
        )

    async def delete_consumer_groups(
        self, group_ids: Iterable[str], group_coordinator_id: int | None = None
    ) -> list[tuple[str, type[KafkaError]]]:
        """Delete consumer groups without members.

        Arguments:
            group_ids: the groups.
            group_coordinator_id: the groups' coordinator, if known; None looks it up.

        Returns a pair of group id and error class for each group; `NoError` means success.

        Like Java's `Admin.deleteConsumerGroups`. Requires Kafka 1.1.
        """
        ids = arguments.names("group_ids", group_ids)
        return await self._run(_groups.delete_groups(self._requests, ids, group_coordinator_id))

    async def list_groups(
        self,
        broker_ids: Iterable[int] | None = None,
        states_filter: Iterable[GroupState | str] | None = None,
        types_filter: Iterable[GroupType | str] | None = None,
        protocol_types: Iterable[str] | None = None,
        raise_errors: bool = True,
    ) -> ListedGroups:
        """List groups with their protocol types, states and types.

        Arguments:
            broker_ids: the brokers whose groups to list; None: all brokers.
            states_filter: only list groups in these states, each a `GroupState` or its name (Kafka 2.6).
            types_filter: only list groups of these types, each a `GroupType` or its name (Kafka 3.8).
            protocol_types: only list groups with these protocol types; "consumer" includes both consumer protocols.
            raise_errors: raise the first error; False leaves errors in the list's ``errors``, a dict by broker.

        Returns dicts with ``group_id``, ``protocol_type``, ``group_state`` and ``group_type``.

        Like Java's `Admin.listGroups`.
        """
        ids = None if broker_ids is None else arguments.numbers("broker_ids", broker_ids)
        states = arguments.values_of("states_filter", GroupState, states_filter)
        types = arguments.values_of("types_filter", GroupType, types_filter)
        protocols = None if protocol_types is None else arguments.names("protocol_types", protocol_types)
        return await self._run(_groups.list_groups(self._requests, ids, states, types, protocols, raise_errors))

    async def describe_groups(
        self,
        group_ids: Iterable[str],
        group_coordinator_id: int | None = None,
        include_authorized_operations: bool = False,
    ) -> dict[str, dict[str, Any]]:
        """Describe classic and consumer groups.

        Arguments:
            group_ids: the groups.
            group_coordinator_id: the groups' coordinator, if known; None looks it up.
            include_authorized_operations: no effect; the result always includes the authorized operations.

        Returns a dict for each group id, with ``error``, ``group_state``, ``protocol_type``, ``protocol_data``,
        ``members`` and ``authorized_operations``. In consumer groups, a member's ``member_metadata`` and
        ``member_assignment`` are dicts. A group that does not exist is in state "Dead", and since Kafka 4.0 also has an
        error. Groups that use KIP-848 have the same keys, and also those of their protocol, such as ``group_epoch``.

        Like Java's `Admin.describeConsumerGroups`.
        """
        ids = arguments.names("group_ids", group_ids)
        return await self._run(_descriptions.describe_groups(self._requests, ids, group_coordinator_id))

    async def describe_classic_groups(
        self, group_ids: Iterable[str], group_coordinator_id: int | None = None
    ) -> dict[str, dict[str, Any]]:
        """Describe groups that use the classic protocol, with any protocol type.

        Arguments:
            group_ids: the groups.
            group_coordinator_id: the groups' coordinator, if known; None looks it up.

        Returns the same as `describe_groups`.

        Like Java's `Admin.describeClassicGroups`.
        """
        ids = arguments.names("group_ids", group_ids)
        return await self._run(_descriptions.describe_classic_groups(self._requests, ids, group_coordinator_id))

    async def describe_share_groups(
        self, group_ids: Iterable[str], group_coordinator_id: int | None = None
    ) -> dict[str, dict[str, Any]]:
        """Describe share groups (KIP-932, Kafka 4.1).

        Arguments:
            group_ids: the groups.
            group_coordinator_id: the groups' coordinator, if known; None looks it up.

        Returns a dict for each group id, with ``error``, ``group_state``, ``group_epoch``, ``assignor_name``,
        ``members`` with their ``assignment``, and ``authorized_operations``. If a group cannot be described, its dict
        contains only ``group_id`` and ``error``.

        Like Java's `Admin.describeShareGroups`. Requires Kafka 4.1.
        """
        ids = arguments.names("group_ids", group_ids)
        return await self._run(_descriptions.describe_share_groups(self._requests, ids, group_coordinator_id))

    async def describe_streams_groups(
        self,
        group_ids: Iterable[str],
        group_coordinator_id: int | None = None,
        include_topology_description: bool = False,
    ) -> dict[str, dict[str, Any]]:
        """Describe Kafka Streams groups (KIP-1071, Kafka 4.2).

        Arguments:
            group_ids: the groups.
            group_coordinator_id: the groups' coordinator, if known; None looks it up.
            include_topology_description: include the description of each node of the topology (Kafka 4.4).

        The result is like that of `describe_share_groups`, but also has ``topology``, and each member's ``assignment``
        consists of tasks.

        Like Java's `Admin.describeStreamsGroups`. Requires Kafka 4.2. The embedded broker does not support it.
        """
        ids = arguments.names("group_ids", group_ids)
        return await self._run(
            _descriptions.describe_streams_groups(
                self._requests, ids, group_coordinator_id, include_topology_description
            )
        )

    async def delete_groups(self, group_ids: Iterable[str], group_coordinator_id: int | None = None) -> dict[str, str]:
        """Delete groups of any type. The groups must not have members.

        Arguments:
            group_ids: the groups.
            group_coordinator_id: the groups' coordinator, if known; None looks it up.

        Returns "OK" or the name of an error class for each group id.

        Like Java's `Admin.deleteConsumerGroups`, `Admin.deleteShareGroups` and `Admin.deleteStreamsGroups`.
        Requires Kafka 1.1.
        """
        ids = arguments.names("group_ids", group_ids)
        deleted = await self._run(_groups.delete_groups(self._requests, ids, group_coordinator_id))
        return {group_id: "OK" if error is NoError else error.__name__ for group_id, error in deleted}

    async def remove_group_members(
        self,
        group_id: str,
        members: Iterable[MemberToRemove] | None = None,
        group_coordinator_id: int | None = None,
    ) -> dict[str | None, type[BrokerResponseError]]:
        """Remove members from a group.

        Arguments:
            group_id: the group.
            members: the members, each identified by its member id or its instance id; None: all members.
            group_coordinator_id: the group's coordinator, if known; None looks it up.

        Returns an error class for each member id or instance id; `NoError` means success.

        Like Java's `Admin.removeMembersFromConsumerGroup`.
        """
        wanted = None if members is None else arguments.instances("members", MemberToRemove, members)
        group_id = arguments.name("group_id", group_id)
        return await self._run(remove_group_members(self._requests, group_id, wanted, group_coordinator_id))
