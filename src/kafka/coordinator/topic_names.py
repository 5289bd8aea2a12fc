"""The names of topics that a coordinator assigns by their ids (KIP-848, KIP-932)."""

import asyncio
import logging
from collections.abc import Callable, Iterable
from uuid import UUID

from kafka.cluster import Backoff, RetryPolicy
from kafka.cluster.protocols import BrokerRequests
from kafka.errors import UnknownTopicIdError

log = logging.getLogger(__name__)


class TopicNames:
    """Knows the names, and looks up those that it does not know, until it finds them. On the loop.

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
        """The names of these topics, as far as they are known; the others are looked up, and all else is forgotten."""
        self._wanted = frozenset(topic_ids)
        known = self._client.metadata.topic_name
        found = ((topic_id, known(topic_id) or self._names.get(topic_id)) for topic_id in self._wanted)
        self._names = {topic_id: name for topic_id, name in found if name is not None}
        if len(self._names) < len(self._wanted) and self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._look_up())
        return dict(self._names)

    def close(self) -> None:
        """Stop looking."""
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
