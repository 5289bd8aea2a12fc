"""Requests about partitions, each to the broker that leads it."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from kafka.admin.requests import AdminRequests, FinalError, check_answered
from kafka.errors import LeaderNotAvailableError, UnknownTopicOrPartitionError, for_code
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from kafka.wire import Request

_MARGIN_MS = 5_000


class Outcome(NamedTuple):
    """What a broker answered about a partition."""

    partition: TopicPartition
    error_code: int
    error_message: str | None
    value: Any


MakeRequest = Callable[[Sequence[TopicPartition]], "Request[Any]"]
ReadResponse = Callable[[Any], Iterable[Outcome]]


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    """The numbers of partitions by topic."""
    found: dict[str, list[int]] = {}
    for topic, partition in partitions:
        found.setdefault(topic, []).append(partition)
    return found


async def find_leaders(
    requests: AdminRequests, partitions: Iterable[TopicPartition]
) -> dict[int, list[TopicPartition]]:
    """The partitions by their leaders, as one broker knows them now; nothing is created.

    Raises a `FinalError` for an unknown one, and `LeaderNotAvailableError` for one without a leader.
    """
    wanted = list(partitions)
    response = await requests.cluster.read_metadata({tp.topic for tp in wanted})
    topics = {topic.name: topic for topic in response.topics}
    leaders = {
        TopicPartition(topic.name or "", each.partition_index): each.leader_id
        for topic in response.topics
        for each in topic.partitions
    }
    found: dict[int, list[TopicPartition]] = {}
    for tp in wanted:
        topic = topics.get(tp.topic)
        if topic is not None and topic.error_code == LeaderNotAvailableError.errno:
            raise LeaderNotAvailableError(f"topic {tp.topic!r} is being created")
        if tp not in leaders:
            code = topic.error_code if topic is not None and topic.error_code else UnknownTopicOrPartitionError.errno
            raise FinalError(for_code(code)(f"partition {tp.partition} of topic {tp.topic!r}"))
        if leaders[tp] < 0:
            raise LeaderNotAvailableError(f"partition {tp.partition} of topic {tp.topic!r} has no leader")
        found.setdefault(leaders[tp], []).append(tp)
    return found


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
    """Ask the leaders of partitions, again about those that have moved, and give what each partition was answered.

    Arguments:
        what: names the operation in errors.
        make_request: makes the request about some of the partitions.
        read_response: takes the answer apart.
        leader_id: the broker that leads all of them, if known.

    Raises the error of the first partition that failed; others may be done.
    """
    limit_ms = requests.limit_ms(timeout_ms)
    wanted = list(dict.fromkeys(partitions))
    done: dict[TopicPartition, Any] = {}

    async def once() -> None:
        left = [tp for tp in wanted if tp not in done]
        leaders = {leader_id: left} if leader_id is not None else await find_leaders(requests, left)
        for leader, led in leaders.items():
            response = await requests.cluster.send(
                leader, make_request(led), timeout_ms=limit_ms + _MARGIN_MS, min_version=min_version
            )
            _take_in(what, list(read_response(response)), done)
            check_answered("partitions", led, done)

    await requests.retry(once, limit_ms)
    return done


def _take_in(what: str, outcomes: list[Outcome], done: dict[TopicPartition, Any]) -> None:
    """Keep what worked; raise for what did not, so that only that is tried again."""
    done.update((each.partition, each.value) for each in outcomes if not each.error_code)
    for (topic, partition), code, message, _ in outcomes:
        if not code:
            continue
        cls = for_code(code)
        error = cls(f"{what} {topic}-{partition}: {message or cls.description}")
        if code == UnknownTopicOrPartitionError.errno:
            raise FinalError(error)
        raise error
