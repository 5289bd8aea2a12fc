"""Groups."""

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
    """What is done with groups."""

    async def list_consumer_groups(self, broker_ids: Iterable[int] | None = None) -> list[ListedGroup]:
        """Pairs of group id and protocol type, of the groups that these brokers coordinate; None: of all groups.

        Arguments:
            broker_ids: the brokers that are asked; None: all.

        Each has the group's ``state`` as an attribute.
        """
        ids = None if broker_ids is None else arguments.numbers("broker_ids", broker_ids)
        return await self._run(_groups.list_consumer_groups(self._requests, ids))

    async def describe_consumer_groups(
        self,
        group_ids: Iterable[str],
        group_coordinator_id: int | None = None,
        include_authorized_operations: bool = False,
    ) -> DescribedGroups:
        """Describe groups with their members, subscriptions and assignments: a list that is also read by id.

        Arguments:
            group_ids: the groups.
            group_coordinator_id: the broker that coordinates them, if known; None looks it up.
            include_authorized_operations: also tell what this client may do with them.

        A group that does not exist is in state "Dead".
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
        """Delete groups that have no members: pairs of the group id and an error class, `NoError` for success.

        Arguments:
            group_ids: the groups.
            group_coordinator_id: the broker that coordinates them, if known; None looks it up.
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
        """The groups that these brokers coordinate, None: all: dicts of ``group_id``, ``protocol_type``,
        ``group_state`` and ``group_type``.

        Arguments:
            broker_ids: the brokers that are asked; None: all.
            states_filter: only those in such a state, a `GroupState` or its name (Kafka 2.6).
            types_filter: only those of such a type, a `GroupType` or its name (Kafka 4.0).
            protocol_types: only those with such a protocol type, "consumer" with consumers of either protocol.
            raise_errors: raise the error of the first broker that failed; False leaves it in the list's ``errors``, a
                dict by broker.
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
        """Describe groups: a dict for each group id, of ``error``, ``group_state``, ``protocol_type``,
        ``protocol_data``, ``members`` and ``authorized_operations`` (which are always asked for).

        Arguments:
            group_ids: the groups.
            group_coordinator_id: the broker that coordinates them, if known; None looks it up.
            include_authorized_operations: no effect; what this client may do with them is told in any case.

        A member's ``member_metadata`` and ``member_assignment`` are dicts in groups of consumers. A group that does not
        exist is in state "Dead", and on Kafka 4.0 has an error, too. Groups of KIP-848 have the same names, and
        beside them those of their protocol, such as ``group_epoch``.
        """
        ids = arguments.names("group_ids", group_ids)
        return await self._run(_descriptions.describe_groups(self._requests, ids, group_coordinator_id))

    async def describe_classic_groups(
        self, group_ids: Iterable[str], group_coordinator_id: int | None = None
    ) -> dict[str, dict[str, Any]]:
        """As `describe_groups`, of groups of the classic protocol alone, whatever their members are.

        Arguments:
            group_ids: the groups.
            group_coordinator_id: the broker that coordinates them, if known; None looks it up.
        """
        ids = arguments.names("group_ids", group_ids)
        return await self._run(_descriptions.describe_classic_groups(self._requests, ids, group_coordinator_id))

    async def describe_share_groups(
        self, group_ids: Iterable[str], group_coordinator_id: int | None = None
    ) -> dict[str, dict[str, Any]]:
        """Describe share groups (KIP-932, Kafka 4.1): a dict for each group id, of ``error``, ``group_state``,
        ``group_epoch``, ``assignor_name``, ``members`` with their ``assignment``, ``authorized_operations``.

        Arguments:
            group_ids: the groups.
            group_coordinator_id: the broker that coordinates them, if known; None looks it up.

        A group that could not be described has ``group_id`` and ``error`` alone.
        """
        ids = arguments.names("group_ids", group_ids)
        return await self._run(_descriptions.describe_share_groups(self._requests, ids, group_coordinator_id))

    async def describe_streams_groups(
        self,
        group_ids: Iterable[str],
        group_coordinator_id: int | None = None,
        include_topology_description: bool = False,
    ) -> dict[str, dict[str, Any]]:
        """Describe the groups of Kafka Streams (KIP-1071, Kafka 4.2), as `describe_share_groups`; with ``topology``,
        and with members' ``assignment`` of tasks.

        Arguments:
            group_ids: the groups.
            group_coordinator_id: the broker that coordinates them, if known; None looks it up.
            include_topology_description: also what the brokers were told of each node of the topology (Kafka 4.4).
        """
        ids = arguments.names("group_ids", group_ids)
        return await self._run(
            _descriptions.describe_streams_groups(
                self._requests, ids, group_coordinator_id, include_topology_description
            )
        )

    async def delete_groups(self, group_ids: Iterable[str], group_coordinator_id: int | None = None) -> dict[str, str]:
        """Delete groups of any kind that have no members: "OK" or the name of the error class for each group id.

        Arguments:
            group_ids: the groups.
            group_coordinator_id: the broker that coordinates them, if known; None looks it up.
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
        """Have members leave their group, None: all: an error class, `NoError` for success, by member or
        instance id.

        Arguments:
            group_id: the group.
            members: who leaves, each by its member id or its instance id; None: all.
            group_coordinator_id: the broker that coordinates it, if known; None looks it up.
        """
        wanted = None if members is None else arguments.instances("members", MemberToRemove, members)
        group_id = arguments.name("group_id", group_id)
        return await self._run(remove_group_members(self._requests, group_id, wanted, group_coordinator_id))
