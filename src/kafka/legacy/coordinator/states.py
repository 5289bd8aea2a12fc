"""The words of `kafka.coordinator.base`: where a member stands, and who it is."""

from __future__ import annotations

from typing import ClassVar

from kafka.coordinator import membership
from kafka.errors import KafkaError


class MemberState:
    """Where a member stands."""

    UNJOINED = "<unjoined>"
    REBALANCING = "<rebalancing>"
    STABLE = "<stable>"


class Generation(membership.Generation):
    """A member's credentials, as `kafka.coordinator.membership` has them.

    Attributes:
        NO_GENERATION: of no member.
    """

    __slots__ = ()
    NO_GENERATION: ClassVar[Generation]

    def has_member_id(self) -> bool:
        """Whether the coordinator has given an id; it does so before there is a generation."""
        return self.member_id != ""

    def __str__(self) -> str:
        return f"<Generation {self.generation_id} (member_id: {self.member_id}, protocol: {self.protocol})>"


Generation.NO_GENERATION = Generation()


class GenerationId(int):
    """`coordinator.generation`: a number, as in 1.0, that can be called, as from 1.4 on."""

    stable: Generation | None

    @classmethod
    def of(cls, credentials: Generation, is_stable: bool) -> GenerationId:
        """The number of a generation, and the generation that a call gives: None while the group is not stable."""
        made = cls(credentials.generation_id)
        made.stable = credentials if is_stable else None
        return made

    def __call__(self) -> Generation | None:
        """Give the generation; None while the group is not stable."""
        return self.stable


class GroupMember(tuple[str, bytes]):
    """What the leader is told of a member: ``(member_id, metadata_bytes)``, as 1.x had it, with names as in 2.3."""

    group_instance_id: str | None

    def __new__(cls, member_id: str, metadata_bytes: bytes, group_instance_id: str | None = None) -> GroupMember:
        """Make one."""
        made = super().__new__(cls, (member_id, metadata_bytes))
        made.group_instance_id = group_instance_id
        return made

    @property
    def member_id(self) -> str:
        """Its id."""
        return self[0]

    @property
    def metadata_bytes(self) -> bytes:
        """What it said about itself, in the protocol that was chosen."""
        return self[1]


class UnjoinedGroupException(KafkaError):
    """The member left the group while it was joining."""

    retriable = True
