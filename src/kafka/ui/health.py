"""The health of the cluster: one word, and the reasons for it. Pure.

"Critical" means that some data cannot be read or written now; "degraded" means that another failure could have that
effect; "unreachable" means that the state is not known.
"""

from typing import NamedTuple

from kafka.display.page_elements import Html, link
from kafka.display.time_axis import duration_text
from kafka.ui.quorum import Quorum
from kafka.ui.snapshot import Snapshot
from kafka.ui.states import Level, state

_SILENT_S = 10.0
"""Seconds without a fetch after which a controller counts as failed. It fetches every half second."""


class Reason(NamedTuple):
    """Something that is wrong."""

    level: Level
    text: str


class Health(NamedTuple):
    """The health of the cluster.

    Arguments:
        word: "healthy", "degraded", "critical", "unreachable" or "unknown".
        reasons: what is wrong, the most serious first.
    """

    word: str
    level: Level
    reasons: tuple[Reason, ...] = ()

    def badge(self) -> Html:
        """Return the word with its colour, as a link to the reasons."""
        return link(state(self.level, self.word), "/health")


def health_of(now: Snapshot | None, trouble: str = "") -> Health:
    """Return the health of the cluster.

    Arguments:
        now: the newest snapshot; None if there is none yet.
        trouble: why the last poll failed; "" if it did not.
    """
    if trouble:
        return Health("unreachable", "bad", (Reason("bad", trouble),))
    if now is None:
        return Health("unknown", "off")
    reasons = [*_offline(now), *_controller(now), *missing_brokers(now), *_silent_voters(now), *_short(now)]
    if any(each.level == "bad" for each in reasons):
        return Health("critical", "bad", tuple(reasons))
    return Health("degraded", "warn", tuple(reasons)) if reasons else Health("healthy", "good")


def _offline(now: Snapshot) -> list[Reason]:
    offline = sum(each.is_offline for topic in now.topics.values() for each in topic.partitions)
    return [Reason("bad", f"{_partitions(offline)} no leader, and cannot be read or written")] if offline else []


def _controller(now: Snapshot) -> list[Reason]:
    text = "the cluster has no controller: topics cannot be created, and leaders cannot change"
    return [Reason("bad", text)] if now.controller < 0 else []


def missing_brokers(now: Snapshot) -> list[Reason]:
    """Name the brokers that should have replicas, but are not part of the cluster."""
    placed = {node for topic in now.topics.values() for each in topic.partitions for node in each.replicas}
    return [
        Reason("warn", f"broker {node} has replicas, but is not running") for node in sorted(placed - {*now.brokers})
    ]


def _silent_voters(now: Snapshot) -> list[Reason]:
    """Name the controllers that do not read the metadata log: without a majority of them, nothing can change."""
    voters = [each for each in now.quorum.nodes if each.role == "Voter"] if isinstance(now.quorum, Quorum) else []
    return [
        Reason("warn", f"controller {each.node} has not read the metadata for {duration_text(each.silent_s)}")
        for each in voters
        if each.silent_s is not None and each.silent_s > _SILENT_S
    ]


def _short(now: Snapshot) -> list[Reason]:
    short = [each for topic in now.topics.values() for each in topic.partitions if each.is_under_replicated]
    only_one = sum(len(each.isr) == 1 for each in short)
    reasons = [Reason("warn", f"{_partitions(len(short))} replicas that are not in sync")] if short else []
    if only_one:
        reasons.append(Reason("warn", f"{_partitions(only_one)} only one replica in sync"))
    return reasons


def _partitions(number: int) -> str:
    return "1 partition has" if number == 1 else f"{number:,} partitions have"
