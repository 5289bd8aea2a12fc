"""The interface of a membership, which turns a subscription into partitions, whatever protocol the group uses.

A membership communicates with the coordinator on the loop. If the caller's thread has to do something inside `poll()`,
the membership requests it in steps. Each step names its partitions; all others stay assigned and keep their positions.
The caller calls `next_step` until it returns None, carries out each step, and reports it with `step_done`. So the
caller's side is the same for all protocols:

| protocol | steps of a rebalance |
|---|---|
| classic, eager | REVOKE all partitions; then, in the new generation, ADD all assigned ones |
| classic, cooperative (KIP-429) | KEEP all; later REVOKE those assigned to others, and join again; ADD new ones |
| consumer (KIP-848) | REVOKE and ADD as the coordinator's target requires; the next heartbeat acknowledges it |
| any, after the membership was lost | LOSE all partitions |
"""

import enum
from typing import NamedTuple, Protocol

from kafka.cluster.metadata_snapshot import ClusterMetadata
from kafka.structs import TopicPartition


class Generation(NamedTuple):
    """The member id and generation in group requests, which show that their sender still belongs to the group.

    Arguments:
        generation_id: the group's generation, or the member's epoch (KIP-848); -1 if there is none.
        member_id: the id that the coordinator assigned; "" until then.
        protocol: name of the assignor that the group agreed on, or None.
        membership: number of the consumer's membership in the protocol of KIP-848, where the epoch changes during a
            membership; 0 in other protocols.
    """

    generation_id: int = -1
    member_id: str = ""
    protocol: str | None = None
    membership: int = 0

    @property
    def is_valid(self) -> bool:
        """Whether there is a membership."""
        return self.generation_id >= 0


NO_GENERATION = Generation()


Partitions = frozenset[TopicPartition]


class StepKind(enum.Enum):
    """The action of a step."""

    REVOKE = "commit, call on_partitions_revoked, give the partitions up"
    KEEP = "commit: the group rebalances, and the partitions stay"
    LOSE = "call on_partitions_lost, give the partitions up: others may have them already"
    ADD = "take the partitions, call on_partitions_assigned, find their positions"


class Step(NamedTuple):
    """The next action for the caller.

    Arguments:
        kind: the action.
        partitions: the partitions. May be empty; the listener is called even then. Always empty for KEEP, for which the
            listener is not called.
        turn: the request of the membership that this step answers. A turn contains at most one step that gives up
            partitions, and one that adds some.
    """

    kind: StepKind
    partitions: Partitions
    turn: int


class MemberStatus(NamedTuple):
    """The status of a member, for `health()`.

    Arguments:
        name: the state.
        waits_for: the next expected event; "" if there is none.
        is_lost: whether the membership was lost and has not been regained.
        fatal: the permanent error that prevents a membership, or None.
    """

    name: str
    waits_for: str = ""
    is_lost: bool = False
    fatal: Exception | None = None


class MembershipListener(Protocol):
    """The consumer that a membership belongs to. Called on the loop."""

    def subscribed_topics(self) -> frozenset[str]:
        """Return the topics whose partitions are wanted."""

    def watch_group_topics(self, topics: frozenset[str]) -> None:
        """Keep the metadata for all topics of the group up to date, because this member computes the assignment."""

    def subscribed_regex(self) -> str | None:
        """Return the regular expression that the coordinator evaluates, or None (KIP-848)."""

    def step_ready(self) -> None:
        """Called when the caller has a step to carry out."""

    def membership_failed(self, error: Exception) -> None:
        """Called with a permanent error that the next `poll()` must raise; a later `poll()` may join again."""


class Membership(Protocol):
    """A way to get partitions. Everything runs on the loop except `next_step` and `leave_step`."""

    @property
    def generation(self) -> Generation:
        """The generation; invalid without a membership. May be read from any thread."""

    @property
    def last_generation(self) -> Generation:
        """The generation; after the loss of a membership, its former generation, which the coordinator refuses.

        May be read from any thread.
        """

    def status(self) -> MemberStatus | None:
        """Return the member's status; None without a group. May be called from any thread."""

    def commit_generation(self) -> Generation:
        """Return the current generation for a commit.

        Raises `CommitFailedError` without a membership, and `RebalanceInProgressError` while the member's partitions
        are unknown.
        """

    def next_step(self, held: Partitions) -> Step | None:
        """Return the next step for the caller, or None. Called in the caller's thread; changes nothing.

        Arguments:
            held: the partitions that the caller has.

        Raises a permanent error of the membership, each time.
        """

    def leave_step(self, held: Partitions) -> Step:
        """Return the step to carry out before leaving: REVOKE, or LOSE if the membership was already lost."""

    def step_done(self, step: Step, held: Partitions) -> None:
        """Report that the caller has carried out ``step``, and now has ``held``. An outdated step is ignored."""

    def subscription_changed(self, reason: str) -> None:
        """Report that the subscription or its listener has changed, because of ``reason``."""

    def metadata_changed(self, metadata: ClusterMetadata) -> None:
        """Report new metadata."""

    def commit_refused(self, error_code: int, generation: Generation) -> None:
        """Report that the coordinator refused a commit made with ``generation``, which may concern the membership."""

    def begin_to_leave(self, reason: str) -> None:
        """Give up the membership; the coordinator is notified in the background."""

    async def leave(self, reason: str, timeout_ms: float) -> None:
        """Give up the membership and notify the coordinator; the next step joins again. Does not raise.

        Arguments:
            timeout_ms: how long to wait for the coordinator. The request continues after that, until `close`.
        """

    async def close(self, timeout_ms: float) -> None:
        """Leave the group for good, and notify the coordinator. Does not raise."""


def step_towards(target: Partitions, held: Partitions, turn: int) -> Step:
    """Return the step from ``held`` towards ``target``: first give up partitions, then add new ones."""
    gone = held - target
    return Step(StepKind.REVOKE, gone, turn) if gone else Step(StepKind.ADD, target - held, turn)
