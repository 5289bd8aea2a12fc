"""Records of share groups: who was given them, what became of them, and what is wrong with that."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import NamedTuple

from kafka.structs import TopicPartition
from kafka.testing.commit_ledger import shown

Place = tuple[str, TopicPartition, int]
"""A group, and a record of it."""


class Holder(NamedTuple):
    """Who has a record: nobody else is given it before `until`, in the loop's seconds."""

    member: str
    until: float


class ShareLedger:
    """See the module.

    Arguments:
        found: where problems go.
        is_calm: whether nothing has been wrong for so long that nothing may fail any more.
        now: gives the loop's time.
        lock_s: for how long a member has a record to itself, at least, from when it was given it.
        limit: how often a record is delivered at most.

    Attributes:
        given: for a group, every record that any member was given.
        done: records that a member was told are done with, and the count of deliveries with which it had them.
    """

    def __init__(
        self, found: list[str], is_calm: Callable[[], bool], now: Callable[[], float], lock_s: float, limit: int
    ) -> None:
        self.found = found
        self.given: dict[str, set[tuple[TopicPartition, int]]] = defaultdict(set)
        self.done: dict[Place, int] = {}
        self._is_calm = is_calm
        self._now = now
        self._lock_s = lock_s
        self._limit = limit
        self._holders: dict[Place, Holder] = {}

    def delivered(self, group: str, member: str, tp: TopicPartition, offset: int, count: int) -> None:
        """A member was given a record, for the `count`-th time that the group was.

        One that was acquired before it was done with may come late, with no higher count. While nothing is wrong nobody
        is given what another one still has.
        """
        key, place = (group, tp, offset), shown(tp, offset)
        self.given[group].add((tp, offset))
        if not 1 <= count <= self._limit:
            self.found.append(f"{member} was given {place} as delivery {count} of at most {self._limit}")
        if count > self.done.get(key, count):
            self.found.append(f"{member} was given {place} again, delivery {count}, after {group} was done with it")
        holder = self._holders.pop(key, None)
        if not self._is_calm():
            return
        if holder is not None and self._now() < holder.until:
            self.found.append(f"{member} was given {place}, which {holder.member} still has")
        self._holders[key] = Holder(member, self._now() + self._lock_s)

    def let_go(self, group: str, tp: TopicPartition, offset: int) -> None:
        """A member is about to say something of a record, after which others may be given it."""
        self._holders.pop((group, tp, offset), None)

    def left(self, member: str) -> None:
        """A member is about to leave, which releases all that it has."""
        for key in [key for key, holder in self._holders.items() if holder.member == member]:
            del self._holders[key]

    def never_said(self, group: str, member: str, tp: TopicPartition, offset: int) -> None:
        """A member was told of an acknowledgement of a record that it has not been given, or said nothing of."""
        self.found.append(f"{group}: {member} acknowledged {shown(tp, offset)} without having it")

    def told(self, group: str, tp: TopicPartition, offset: int, count: int) -> None:
        """A member was told that its word on a record counts, which it had as delivery `count`: it is done with.

        One whose lock has run out may be told so, too, once the group has gone on past what another one has said.
        """
        key = group, tp, offset
        self.done[key] = max(count, self.done.get(key, 0))

    def check(
        self, logs: Mapping[TopicPartition, list[str]], starts: Mapping[str, Mapping[TopicPartition, int]]
    ) -> None:
        """Hold what is there in the end against what was given and said.

        Arguments:
            logs: the records of each partition, from offset 0 on.
            starts: for each group, where it goes on in each partition.
        """
        for group, start in starts.items():
            missing = [
                shown(tp, offset)
                for tp, log in logs.items()
                for offset in range(len(log))
                if (tp, offset) not in self.given[group]
            ]
            if missing:
                self.found.append(f"{group} was never given {len(missing)} records, the first is {missing[0]}")
            for tp, log in logs.items():
                if log and start.get(tp) != len(log):
                    self.found.append(f"{group} continues at {start.get(tp)} of {shown(tp, len(log))}, its end")
