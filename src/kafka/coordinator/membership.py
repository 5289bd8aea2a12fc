"""What a membership is: how a subscription becomes partitions, whatever protocol the group uses.

A membership talks to the coordinator on the loop. If the caller's thread has to do something, inside `poll()`, the
membership asks for it in steps. Each step names the partitions that it is about; all others stay as they are, with
their positions. The caller asks `next_step` until there is none, carries each step out and reports it by `step_done`.
So the caller's side is the same for all protocols:

| protocol | steps of a rebalance |
|---|---|
| classic, eager | REVOKE all that is held; then, in the new generation, ADD all that is assigned |
| classic, cooperative (KIP-429) | KEEP all; later REVOKE what goes to others, and join again; ADD what is new |
| consumer (KIP-848) | REVOKE and ADD what the coordinator's target asks for; the next heartbeat acknowledges it |
| any, when the membership is gone | LOSE all that is held |
"""

import enum
from typing import NamedTuple, Protocol

from kafka.cluster.metadata_snapshot import ClusterMetadata
from kafka.structs import TopicPartition


class Generation(NamedTuple):
    """The credentials of group requests: they show that their sender still belongs to the group.

    Arguments:
        generation_id: number of the group's generation, or the epoch of the member (KIP-848); -1 without one.
        member_id: the id that the coordinator gave; "" before it gave one.
        protocol: name of the assignor that the group agreed on, or None.
        membership: number of the consumer's membership in the protocol of KIP-848, where the epoch changes within one.
            0 in other protocols.
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
    """What the caller does with the partitions of a step."""

    REVOKE = "commit, call on_partitions_revoked, give the partitions up"
    KEEP = "commit: the group rebalances, and the partitions stay"
    LOSE = "call on_partitions_lost, give the partitions up: others may have them already"
    ADD = "take the partitions, call on_partitions_assigned, find their positions"


class Step(NamedTuple):
    """What the caller has to do next.

    Arguments:
        kind: the action.
        partitions: its partitions; may be empty, which the listener is also told; always empty with KEEP, of which it
            is not told.
        turn: the request of the membership that this step answers: one turn asks at most once to give partitions up,
            and once to add some.
    """

    kind: StepKind
    partitions: Partitions
    turn: int


class MemberStatus(NamedTuple):
    """The status of a member, for `health()`.

    Arguments:
        name: the state.
        waits_for: what has to happen next; "": nothing.
        is_lost: whether a membership was lost, and has not been regained.
        fatal: the permanent error that prevents one, or None.
    """

    name: str
    waits_for: str = ""
    is_lost: bool = False
    fatal: Exception | None = None


class MembershipListener(Protocol):
    """The consumer that a membership belongs to. Called on the loop."""

    def subscribed_topics(self) -> frozenset[str]:
        """The topics whose partitions are wanted."""

    def watch_group_topics(self, topics: frozenset[str]) -> None:
        """This member computes the assignment: keep the metadata of all topics of the group fresh."""

    def subscribed_regex(self) -> str | None:
        """The regular expression that the coordinator matches topics with, or None (KIP-848)."""

    def step_ready(self) -> None:
        """The caller has a step to carry out."""

    def membership_failed(self, error: Exception) -> None:
        """A permanent error; the next `poll()` has to raise it. A later one may try again."""


class Membership(Protocol):
    """One way to get partitions. Everything runs on the loop except `next_step` and `leave_step`."""

    @property
    def generation(self) -> Generation:
        """The credentials; not valid while there is no membership. May be read from any thread."""

    @property
    def last_generation(self) -> Generation:
        """The credentials, or after a membership was lost its former ones, which the coordinator refuses.

        May be read from any thread.
        """

    def status(self) -> MemberStatus | None:
        """The member's status; None without a group. In any thread."""

    def commit_generation(self) -> Generation:
        """The credentials for a commit at this moment.

        Raises `CommitFailedError` without a membership, `RebalanceInProgressError` while it is unknown which partitions
        it has.
        """

    def next_step(self, held: Partitions) -> Step | None:
        """What the caller has to do now, or None. Called in the caller's thread; changes nothing.

        Arguments:
            held: the partitions that the caller has.

        Raises the permanent error of the membership, each time.
        """

    def leave_step(self, held: Partitions) -> Step:
        """How the caller gives everything up before it leaves: REVOKE, or LOSE if it is no longer a member."""

    def step_done(self, step: Step, held: Partitions) -> None:
        """The caller has carried ``step`` out, and has ``held`` now. An outdated step is ignored."""

    def subscription_changed(self, reason: str) -> None:
        """The consumer has subscribed to other topics, or with another listener, because ``reason``."""

    def metadata_changed(self, metadata: ClusterMetadata) -> None:
        """There are new metadata."""

    def commit_refused(self, error_code: int, generation: Generation) -> None:
        """The coordinator refused a commit made with ``generation``, which may be news about the membership."""

    def begin_to_leave(self, reason: str) -> None:
        """Give up the membership; the coordinator is told in the background."""

    async def leave(self, reason: str, timeout_ms: float) -> None:
        """Give up the membership and tell the coordinator; the next step joins again. Does not raise.

        Arguments:
            timeout_ms: how long to wait for the coordinator; telling it continues after that, until `close`.
        """

    async def close(self, timeout_ms: float) -> None:
        """Leave and stop for good, after telling the coordinator. Does not raise."""


def step_towards(target: Partitions, held: Partitions, turn: int) -> Step:
    """The step from ``held`` towards ``target``: first give up partitions that are not in it, then add new ones."""
    gone = held - target
    return Step(StepKind.REVOKE, gone, turn) if gone else Step(StepKind.ADD, target - held, turn)
