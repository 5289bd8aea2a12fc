# Written by scripts/twins.py from kafka/admin/async_calls/groups.py: change that file, not this one.
"""Groups."""

from collections.abc import Iterable
from typing import Any

from kafka.admin import arguments
from kafka.admin import groups as _groups
from kafka.admin.calls.base import AdminCalls
from kafka.admin.group_members import remove_group_members
from kafka.admin.group_results import DescribedGroups, ListedGroup
from kafka.admin.group_types import GroupState, GroupType, MemberToRemove
from kafka.errors import BrokerResponseError, NoError


class GroupCalls(AdminCalls):
    """What is done with groups."""

    def list_consumer_groups(self, broker_ids: Iterable[int] | None = None) -> list[ListedGroup]:
        """Pairs of group id and protocol type, of the groups that these brokers coordinate; None: of all groups.

        Each has the group's ``state`` as an attribute.
        """
        ids = None if broker_ids is None else arguments.numbers("broker_ids", broker_ids)
        return self._run(_groups.list_consumer_groups(self._requests, ids))

    def describe_consumer_groups(
        self,
        group_ids: Iterable[str],
        group_coordinator_id: int | None = None,
        include_authorized_operations: bool = False,
    ) -> DescribedGroups:
        """Describe groups with their members, subscriptions and assignments: a list that is also read by id.

        Arguments:
            group_coordinator_id: the broker that coordinates them, if known; None looks it up.
            include_authorized_operations: also tell what this client may do with them.

        A group that does not exist is in state "Dead".
        """
        ids = arguments.names("group_ids", group_ids)
        return self._run(
            _groups.describe_consumer_groups(self._requests, ids, group_coordinator_id, include_authorized_operations)
        )

    def delete_consumer_groups(
        self, group_ids: Iterable[str], group_coordinator_id: int | None = None
    ) -> list[tuple[str, type[BrokerResponseError]]]:
        """Delete groups that have no members: pairs of the group id and an error class, `NoError` for success."""
        ids = arguments.names("group_ids", group_ids)
        return self._run(_groups.delete_consumer_groups(self._requests, ids, group_coordinator_id))

    def list_groups(
        self,
        broker_ids: Iterable[int] | None = None,
        states_filter: Iterable[GroupState | str] | None = None,
        types_filter: Iterable[GroupType | str] | None = None,
    ) -> list[dict[str, Any]]:
        """The groups that these brokers coordinate, None: all: dicts of ``group_id``, ``protocol_type``,
        ``group_state`` and ``group_type``.

        Arguments:
            states_filter: only those in such a state, a `GroupState` or its name (Kafka 2.6).
            types_filter: only those of such a type, a `GroupType` or its name (Kafka 4.0).
        """
        ids = None if broker_ids is None else arguments.numbers("broker_ids", broker_ids)
        states = arguments.values_of("states_filter", GroupState, states_filter)
        types = arguments.values_of("types_filter", GroupType, types_filter)
        return self._run(_groups.list_groups(self._requests, ids, states, types))

    def describe_groups(
        self,
        group_ids: Iterable[str],
        group_coordinator_id: int | None = None,
        include_authorized_operations: bool = False,
    ) -> dict[str, dict[str, Any]]:
        """Describe groups: a dict for each group id, of ``error``, ``group_state``, ``protocol_type``,
        ``protocol_data``, ``members`` and ``authorized_operations`` (which are always asked for).

        A member's ``member_metadata`` and ``member_assignment`` are dicts in groups of consumers. A group that does not
        exist is in state "Dead", and on Kafka 4.0 has an error, too.
        """
        ids = arguments.names("group_ids", group_ids)
        return self._run(_groups.describe_groups(self._requests, ids, group_coordinator_id))

    def delete_groups(self, group_ids: Iterable[str], group_coordinator_id: int | None = None) -> dict[str, str]:
        """Delete groups that have no members: "OK" or the name of the error class for each group id."""
        ids = arguments.names("group_ids", group_ids)
        deleted = self._run(_groups.delete_consumer_groups(self._requests, ids, group_coordinator_id))
        return {group_id: "OK" if error is NoError else error.__name__ for group_id, error in deleted}

    def remove_group_members(
        self, group_id: str, members: Iterable[MemberToRemove], group_coordinator_id: int | None = None
    ) -> dict[str | None, type[BrokerResponseError]]:
        """Have members leave their group: an error class, `NoError` for success, by member or group instance id."""
        wanted = arguments.instances("members", MemberToRemove, members)
        group_id = arguments.name("group_id", group_id)
        if not wanted:
            return {}
        return self._run(remove_group_members(self._requests, group_id, wanted, group_coordinator_id))
