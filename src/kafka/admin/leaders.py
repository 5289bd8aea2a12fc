"""Requests about partitions, each to the broker that leads it."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from kafka.admin.requests import MARGIN_MS, AdminRequests
from kafka.admin.routing import Outcome, Route, Routed, ask_each, asking
from kafka.errors import KafkaError, LeaderNotAvailableError, UnknownTopicOrPartitionError, for_code
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from kafka.wire import Request

MakeRequest = Callable[[Sequence[TopicPartition]], "Request[Any]"]
ReadResponse = Callable[[Any], Iterable[Outcome]]


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    """The numbers of partitions by topic."""
    found: dict[str, list[int]] = {}
    for topic, partition in partitions:
        found.setdefault(topic, []).append(partition)
    return found


class LeaderRoute(Route[TopicPartition]):
    """Partitions, each to its leader as one broker knows it now; nothing is created."""

    def __init__(self, requests: AdminRequests) -> None:
        super().__init__(-1)
        self._cluster = requests.cluster

    async def find(self, keys: Sequence[TopicPartition]) -> Routed[TopicPartition]:
        """See `Route`."""
        response = await self._cluster.read_metadata({tp.topic for tp in keys})
        topics = {topic.name: topic for topic in response.topics}
        leaders = {
            TopicPartition(topic.name or "", each.partition_index): each.leader_id
            for topic in response.topics
            for each in topic.partitions
        }
        routed = Routed[TopicPartition]()
        for tp in keys:
            code = topics[tp.topic].error_code if tp.topic in topics else 0
            if code == LeaderNotAvailableError.errno:
                routed.errors[tp] = LeaderNotAvailableError(f"topic {tp.topic!r} is being created")
            elif tp not in leaders:
                routed.errors[tp] = _not_led(tp, code, len(topics[tp.topic].partitions) if tp.topic in topics else 0)
            elif leaders[tp] < 0:
                routed.errors[tp] = LeaderNotAvailableError(
                    f"partition {tp.partition} of topic {tp.topic!r} has no leader"
                )
            else:
                routed.add(leaders[tp], tp)
        return routed


def _not_led(tp: TopicPartition, code: int, partitions: int) -> KafkaError:
    """The error of a partition that a topic with so many does not have."""
    error = for_code(code or UnknownTopicOrPartitionError.errno)
    why = error.description
    if partitions:
        why = (
            f"the topic has the partitions 0 to {partitions - 1}"
            if partitions > 1
            else "the topic has partition 0 alone"
        )
    elif error is UnknownTopicOrPartitionError:
        why = "there is no such topic"
    return error(f"partition {tp.partition} of topic {tp.topic!r}: {why}")


async def ask_leaders(
    requests: AdminRequests,
    what: str,
    partitions: Iterable[TopicPartition],
    make_request: MakeRequest,
    read_response: ReadResponse,
    *,
    timeout_ms: int | None = None,
    leader_id: int | None = None,
    min_version: int = 0,
) -> dict[TopicPartition, Any]:
    """Ask the leaders of partitions, again about those that have moved: a value or a `KafkaError` for each.

    Arguments:
        what: names the operation in errors.
        make_request: makes the request about some of the partitions.
        read_response: takes the answer apart.
        leader_id: the broker that leads all of them, if known.
    """
    route = LeaderRoute(requests) if leader_id is None else Route[TopicPartition](leader_id)
    limit_ms = requests.limit_ms(timeout_ms) + MARGIN_MS
    ask = asking(requests, make_request, read_response, limit_ms, min_version)
    return await ask_each(requests, what, partitions, route, ask, timeout_ms=timeout_ms)
