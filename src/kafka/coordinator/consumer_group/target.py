"""The target assignment that the coordinator sends, by topic name (KIP-848), and the lookup of topic names by id."""

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
"""The interval at which to check whether the metadata contains the assigned topic id."""


log = logging.getLogger(__name__)


class TopicNames:
    """The names of topics that a coordinator assigns by id (KIP-848, KIP-932).

    Looks up unknown names until they are found. Used on the loop only.

    Arguments:
        client: provides the metadata and requests more.
        found: called when more names are known.
        backoff: pauses between lookups.
    """

    def __init__(self, client: BrokerRequests, found: Callable[[], None], backoff: Backoff) -> None:
        self._client = client
        self._found = found
        self._policy = RetryPolicy(backoff, log, fatal=lambda error: False, quiet=1)
        self._names: dict[UUID, str] = {}
        self._wanted: frozenset[UUID] = frozenset()
        self._task: asyncio.Task[None] | None = None

    def want(self, topic_ids: Iterable[UUID]) -> dict[UUID, str]:
        """Return the known names of these topics, look up the others, and forget all other names."""
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
            raise UnknownTopicIdError(f"assigned topics: {', '.join(sorted(map(str, unknown)))}")


class Target:
    """The newest assignment of a member. Used on the loop only.

    Arguments:
        client: provides the metadata and requests more.
        found: called when more partitions may be adopted, because more names are known or the metadata may be newer.
        backoff: pauses between lookups.
    """

    def __init__(self, client: BrokerRequests, found: Callable[[], None], backoff: Backoff) -> None:
        self._client = client
        self._found = found
        self._looking_again: asyncio.TimerHandle | None = None
        self._names = TopicNames(client, found, backoff)
        self._wanted: dict[UUID, Sequence[int]] | None = None
        self._ids: dict[str, UUID] = {}
        """The ids of topics that are held or were last assigned."""
        self._held_ids: dict[str, UUID] = {}

    @property
    def is_known(self) -> bool:
        """Whether the coordinator has sent an assignment."""
        return self._wanted is not None

    @property
    def lacks_names(self) -> bool:
        """Whether the name of any assigned topic is unknown."""
        return len(self._known()) < len(self._wanted or ())

    @property
    def topics(self) -> frozenset[str]:
        """The known names of the assigned topics."""
        return frozenset(self._names.want(self._wanted or ()).values())

    def id_of(self, topic: str) -> UUID:
        """Return the id of a topic whose partitions the caller holds or was offered."""
        return self._ids[topic]

    def replace(self, wanted: Mapping[UUID, Sequence[int]]) -> None:
        """Replace the target with the coordinator's newest one."""
        self._wanted = dict(wanted)

    def forget(self) -> None:
        """Clear the target at the end of a membership."""
        self._wanted = None
        self._names.want(())
        self._stop_looking()
        self._ids, self._held_ids = {}, {}

    def towards(self, held: Partitions) -> Partitions:
        """Return the partitions that the caller should have next.

        These are all assigned partitions, except those of topics whose names are still unknown or that were deleted and
        recreated. In the latter case, the partitions of the old topic are revoked first, and those of the new one are
        added once the metadata contains it.
        """
        if self._wanted is None:
            return held
        known = self._known()
        stale = self.topics.difference(known.values())
        if stale and self._looking_again is None:  # the metadata still contains deleted topics
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
        """Record the partitions that the caller now holds."""
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
        """Return the known names of the assigned topics, without topics that were deleted and recreated."""
        now = self._client.metadata.topic_id
        return {
            topic_id: name
            for topic_id, name in self._names.want(self._wanted or ()).items()
            if self._held_ids.get(name) == topic_id or now(name) in (None, topic_id)
        }
