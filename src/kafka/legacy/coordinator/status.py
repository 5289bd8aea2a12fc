"""The methods of a coordinator that report on its member and the group's coordinator."""

from __future__ import annotations

import logging
from typing import Any

from kafka.legacy.coordinator.coordinator_link import CoordinatorLink
from kafka.legacy.coordinator.group_member import Generation, GenerationId, Member, MemberState
from kafka.legacy.coordinator.heartbeat_times import Heartbeat

log = logging.getLogger("kafka.coordinator")


class MemberStatus:
    """Methods that query a member or make it rejoin, without waiting for the coordinator."""

    config: dict[str, Any]
    heartbeat: Heartbeat
    rejoining: bool
    _link: CoordinatorLink
    _member: Member

    @property
    def group_id(self) -> Any:
        """The group's id."""
        return self.config["group_id"]

    @property
    def group_instance_id(self) -> str | None:
        """The id of a static member (KIP-345)."""
        instance_id: str | None = self.config["group_instance_id"]
        return instance_id

    # The coordinator

    @property
    def coordinator_id(self) -> str | None:
        """The coordinator's node id, for requests on a separate connection; None if it is unknown."""
        node_id = self._link.node_id
        return None if node_id is None else f"coordinator-{node_id}"

    def coordinator_unknown(self) -> bool:
        """Return whether the coordinator is unknown. Forget the coordinator if its connection failed."""
        if self._link.node_id is None:
            return True
        if self._link.is_connected():
            return False
        self.coordinator_dead("Node Disconnected")
        return True

    def coordinator(self) -> str | None:
        """Return the coordinator's node id; None if it is unknown or not connected."""
        return None if self.coordinator_unknown() else self.coordinator_id

    def connected(self) -> bool:
        """Return whether the coordinator is connected."""
        return self._link.is_connected()

    def coordinator_dead(self, error: object = None) -> None:
        """Forget the coordinator, so that it is looked up again."""
        if self._link.node_id is not None:
            log.warning(
                "Marking the coordinator dead (node %s) for group %s: %s.", self.coordinator_id, self.group_id, error
            )
            self._link.forget()

    # The member

    @property
    def state(self) -> str:
        """The member's state, one of `MemberState`."""
        return self._member.state

    @property
    def member_id(self) -> str:
        """The id assigned by the coordinator; "" if there is none."""
        return self._member.generation.member_id

    @property
    def protocol(self) -> str | None:
        """The protocol chosen by the coordinator."""
        return self._member.generation.protocol

    @property
    def generation(self) -> GenerationId:
        """The generation's number; -1 if there is none. Calling it returns the `Generation`, or None unless stable."""
        return GenerationId.of(self._member.generation, self._member.state is MemberState.STABLE)

    def generation_if_stable(self) -> Generation | None:
        """Return the generation, or None if the member has not joined."""
        return self.generation()

    def rebalance_in_progress(self) -> bool:
        """Return whether the member is joining."""
        return self._member.state is MemberState.REBALANCING

    def is_dynamic_member(self) -> bool:
        """Return whether the member leaves the group when it is closed."""
        return self._member.is_dynamic

    def reset_generation(self, member_id: str = "") -> None:
        """Discard the generation, so that the member has to rejoin."""
        self._member.reset(member_id)

    # Rejoining

    @property
    def rejoin_needed(self) -> bool:
        """Whether the member has to join or rejoin; may be set."""
        return self._member.rejoin_needed

    @rejoin_needed.setter
    def rejoin_needed(self, is_needed: bool) -> None:
        self._member.rejoin_needed = is_needed

    @property
    def needs_join_prepare(self) -> bool:
        """Whether `_on_join_prepare` will be called before the member joins (1.0)."""
        return not self.rejoining

    @needs_join_prepare.setter
    def needs_join_prepare(self, is_needed: bool) -> None:
        self.rejoining = not is_needed

    def need_rejoin(self) -> bool:
        """Return whether the member has to join or rejoin."""
        self._member.seen()
        return self._member.rejoin_needed

    def request_rejoin(self) -> None:
        """Make the next call to `ensure_active_group` rejoin the group."""
        self._member.rejoin_needed = True

    # Heartbeats

    def poll_heartbeat(self) -> None:
        """Record that the caller is alive. Raises the error that ended the heartbeats, once."""
        self._member.seen()
        failure, self._member.failure = self._member.failure, None
        if failure is not None:
            raise failure

    def time_to_next_heartbeat(self) -> float:
        """Return the seconds until the next heartbeat; infinity unless the member has joined."""
        if self._member.state is MemberState.UNJOINED:
            return float("inf")
        return self.heartbeat.time_to_next_heartbeat()
