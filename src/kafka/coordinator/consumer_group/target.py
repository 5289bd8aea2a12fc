"""The target assignment that the coordinator sends, by topic name (KIP-848), and the names of topics by id."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from uuid import UUID

from kafka.cluster import Backoff, RetryPolicy
from kafka.cluster.protocols import BrokerRequests
from kafka.coordinator.membership import Partitions
from kafka.errors import UnknownTopicIdError
from kafka.structs import TopicPartition

_LOOK_AGAIN_S = 0.5
"""How often to check whether the metadata have a topic by the assigned id."""


log = logging.getLogger(__name__)


class TopicNames:
    """The names of topics that a coordinator assigns by id (KIP-848, KIP-932).

    Looks up unknown ones until it finds them. On the loop.

    Arguments:
        client: has the metadata, and asks for more.
        found: called when more names are known.
        backoff: pauses between look-ups.
    """

    def __init__(self, client: BrokerRequests, found: Callable[[], None], backoff: Backoff) -> None:
        self._client = client
        self._found = found
        self._policy = RetryPolicy(backoff, log, fatal=lambda error: False, quiet=1)
        self._names: dict[UUID, str] = {}
        self._wanted: frozenset[UUID] = frozenset()
        self._task: asyncio.Task[None] | None = None

    def want(self, topic_ids: Iterable[UUID]) -> dict[UUID, str]:
        """The known names of these topics; the others are looked up. All other names are forgotten."""
        self._wanted = frozenset(topic_ids)
        known = self._client.metadata.topic_name
        found = ((topic_id, known(topic_id) or self._names.get(topic_id)) for topic_id in self._wanted)
        self._names = {topic_id: name for topic_id, name in found if name is not None}
        if len(self._names) < len(self._wanted) and self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._look_up())
        return dict(self._names)

    def close(self) -> None:
        """Stop looking up names."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()

    async def _look_up(self) -> None:
        attempts = self._policy.attempts("looking up topics by their ids")
        while missing := self._wanted - self._names.keys():
            try:
                await self._ask(missing)
            except Exception as error:
                await attempts.failed(error)
        attempts.succeeded()
        self._task = None

    async def _ask(self, topic_ids: frozenset[UUID]) -> None:
        wanted: set[str | UUID] = set(topic_ids)
        response = await self._client.read_metadata(wanted)
        new = {each.topic_id: each.name for each in response.topics if not each.error_code and each.name is not None}
        if new:
            self._names.update(new)
            self._found()
        unknown = topic_ids - new.keys()
        if unknown:
            raise UnknownTopicIdError(f"topics that are assigned: {', '.join(sorted(map(str, unknown)))}")


class Target:
    """The newest assignment of a member. On the loop.

    Arguments:
        client: knows topics by their ids, and looks up others.
        found: called when more may be adopted: more names are known, or the metadata may be newer.
        backoff: pauses between lookups.
    """

    def __init__(self, client: BrokerRequests, found: Callable[[], None], backoff: Backoff) -> None:
        self._client = client
        self._found = found
        self._looking_again: asyncio.TimerHandle | None = None
        self._names = TopicNames(client, found, backoff)
        self._wanted: dict[UUID, Sequence[int]] | None = None
        self._ids: dict[str, UUID] = {}
        """The ids of topics that are held, or were wanted last."""
        self._held_ids: dict[str, UUID] = {}

    @property
    def is_known(self) -> bool:
        """Whether the coordinator has said what it wants."""
        return self._wanted is not None

    @property
    def lacks_names(self) -> bool:
        """Whether the name of a topic is unknown."""
        return len(self._known()) < len(self._wanted or ())

    @property
    def topics(self) -> frozenset[str]:
        """The known names of the topics."""
        return frozenset(self._names.want(self._wanted or ()).values())

    def id_of(self, topic: str) -> UUID:
        """The id of a topic that is held, or was offered to the caller."""
        return self._ids[topic]

    def replace(self, wanted: Mapping[UUID, Sequence[int]]) -> None:
        """Replace the target with what the coordinator wants now."""
        self._wanted = dict(wanted)

    def forget(self) -> None:
        """The membership is over."""
        self._wanted = None
        self._names.want(())
        self._stop_looking()
        self._ids, self._held_ids = {}, {}

    def towards(self, held: Partitions) -> Partitions:
        """What the caller should have next.

        That is everything wanted, except topics whose names are not known yet, and topics that were deleted and
        recreated: the partitions of the old one are given up first, and those of the new one are added once the
        metadata have it.
        """
        if self._wanted is None:
            return held
        known = self._known()
        stale = self.topics.difference(known.values())
        if stale and self._looking_again is None:  # the metadata still contain deleted topics
            self._client.request_refresh(stale)
            self._looking_again = asyncio.get_running_loop().call_later(_LOOK_AGAIN_S, self._look_again)
        target: set[TopicPartition] = set()
        for topic_id, name in known.items():
            old_id = self._held_ids.get(name, topic_id) if any(tp.topic == name for tp in held) else topic_id
            if old_id == topic_id:
                self._ids[name] = topic_id
                target.update(TopicPartition(name, number) for number in self._wanted[topic_id])
        return frozenset(target)

    def taken_over(self, held: Partitions) -> None:
        """The caller has this now."""
        self._held_ids = {topic: self._ids[topic] for topic in {tp.topic for tp in held}}

    def close(self) -> None:
        """Stop looking up names."""
        self._names.close()
        self._stop_looking()

    def _look_again(self) -> None:
        self._looking_again = None
        self._found()

    def _stop_looking(self) -> None:
        timer, self._looking_again = self._looking_again, None
        if timer is not None:
            timer.cancel()

    def _known(self) -> dict[UUID, str]:
        """The names of the topics that may be added, or are held."""
        now = self._client.metadata.topic_id
        return {
            topic_id: name
            for topic_id, name in self._names.want(self._wanted or ()).items()
            if self._held_ids.get(name) == topic_id or now(name) in (None, topic_id)
        }
