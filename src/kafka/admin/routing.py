"""Requests for several keys (groups, partitions, ...): one request per responsible broker, sent concurrently.

Keys are independent: each has its own result, a value or an error. Only keys that failed with a retriable error are
routed and sent again, until the timeout.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from kafka.admin.admin_requests import MARGIN_MS, AdminRequests, about, gather
from kafka.cluster.protocols import CoordinatorKind
from kafka.errors import (
    BrokerResponseError,
    CoordinatorNotAvailableError,
    KafkaConnectionError,
    KafkaError,
    KafkaProtocolError,
    KafkaTimeoutError,
    LeaderNotAvailableError,
    NoError,
    NotCoordinatorError,
    StaleMetadata,
    UnknownTopicIdError,
    UnknownTopicOrPartitionError,
    for_code,
)
from kafka.structs import TopicPartition, TopicPartitionReplica

if TYPE_CHECKING:
    from kafka.wire import Request

K = TypeVar("K")

_FINAL = (UnknownTopicOrPartitionError, UnknownTopicIdError)
"""Errors that are not retried although they are retriable: an unknown topic is most likely a typo."""
_SHARE_OF_LOOK_UPS = 0.9
"""The fraction of a call's timeout for looking up a coordinator. A lookup error is thus raised before the timeout."""


class Outcome(NamedTuple):
    """A broker's result for one key."""

    key: Any
    error_code: int
    error_message: str | None
    value: Any


@dataclass
class Routed(Generic[K]):
    """Keys by responsible broker, and errors for keys without a responsible broker."""

    by_broker: dict[int, list[K]] = field(default_factory=dict)
    errors: dict[K, KafkaError] = field(default_factory=dict)

    def add(self, broker_id: int, key: K) -> None:
        """Assign a key to a broker."""
        self.by_broker.setdefault(broker_id, []).append(key)


class Route(Generic[K]):
    """Finds the brokers that are responsible for keys. The base class routes all keys to one broker."""

    def __init__(self, broker_id: int) -> None:
        self._broker_id = broker_id

    async def find(self, keys: Sequence[K]) -> Routed[K]:
        """Return the brokers that are currently responsible for keys."""
        return Routed({self._broker_id: list(keys)})

    def failed(self, key: K, error: KafkaError) -> None:
        """Handle a broker's error for a key, or the lack of a response."""

    def gives_up(self, error: KafkaError) -> bool:
        """Return whether a retriable error is not retried."""
        return False


class EachBroker(Route[int]):
    """Routes broker ids to the brokers with these ids.

    Arguments:
        waits: retry a broker that has left the cluster, until the timeout; False: it fails at once.
    """

    def __init__(self, waits: bool = True) -> None:
        super().__init__(-1)
        self._waits = waits

    async def find(self, keys: Sequence[int]) -> Routed[int]:
        """See `Route`."""
        return Routed({key: [key] for key in keys})

    def gives_up(self, error: KafkaError) -> bool:
        """See `Route`."""
        return not self._waits and isinstance(error, StaleMetadata)


class ByBroker(Route[K]):
    """Routes each key to the broker that a function returns."""

    def __init__(self, broker_of: Callable[[K], int]) -> None:
        super().__init__(-1)
        self._broker_of = broker_of

    async def find(self, keys: Sequence[K]) -> Routed[K]:
        """See `Route`."""
        routed = Routed[K]()
        for key in keys:
            routed.add(self._broker_of(key), key)
        return routed


class CoordinatorRoute(Route[str]):
    """Routes groups or transactional ids to their coordinators."""

    def __init__(self, requests: AdminRequests, kind: CoordinatorKind, limit_ms: int) -> None:
        super().__init__(-1)
        self._cluster, self._kind = requests.cluster, kind
        self._limit_ms = limit_ms * _SHARE_OF_LOOK_UPS

    async def find(self, keys: Sequence[str]) -> Routed[str]:
        """See `Route`."""
        routed = Routed[str]()

        async def look(key: str) -> None:
            try:
                routed.add(await self._cluster.coordinator(self._kind, key, self._limit_ms), key)
            except KafkaError as error:
                routed.errors[key] = error

        await gather(look(key) for key in keys)
        return routed

    def failed(self, key: str, error: KafkaError) -> None:
        """See `Route`."""
        moved = (NotCoordinatorError, CoordinatorNotAvailableError, KafkaConnectionError, KafkaTimeoutError)
        if isinstance(error, moved):
            self._cluster.forget_coordinator(self._kind, key)


def group_route(requests: AdminRequests, node_id: int | None) -> Route[str]:
    """Return a route to the coordinators of groups, or to ``node_id`` if it is given."""
    if node_id is not None:
        return Route(node_id)
    return CoordinatorRoute(requests, "group", requests.options.request_timeout_ms)


Ask = Callable[[int, list[K]], Awaitable[Iterable[Outcome]]]
"""Sends a request for some keys to a broker."""


def asking(
    requests: AdminRequests,
    make_request: "Callable[[list[K]], Request[Any]]",
    read_response: Callable[[Any], Iterable[Outcome]],
    timeout_ms: float | None = None,
    min_version: int = 0,
    max_version: int | None = None,
) -> Ask[K]:
    """Return an `Ask` that sends one request for all keys of a broker."""

    async def ask(broker_id: int, keys: list[K]) -> Iterable[Outcome]:
        response = await requests.cluster.send(
            broker_id, make_request(keys), timeout_ms=timeout_ms, min_version=min_version, max_version=max_version
        )
        return read_response(response)

    return ask


class _Answers(Generic[K]):
    """The results so far, by key."""

    def __init__(self, what: str, keys: Iterable[K], route: Route[K]) -> None:
        self._what, self._route = what, route
        self.wanted = list(dict.fromkeys(keys))
        self.done: dict[K, Any] = {}
        self.failing: dict[K, KafkaError] = {}
        """What the present try of each has failed with."""
        self._last: dict[K, KafkaError] = {}
        """What any try has failed with last."""

    def left(self) -> list[K]:
        """Return the keys without a final result."""
        return [key for key in self.wanted if key not in self.done]

    def fail(self, key: K, error: KafkaError) -> None:
        """Record an error: as the final result, or until the next attempt if the error is retriable."""
        if error.retriable and not isinstance(error, _FINAL) and not self._route.gives_up(error):
            self._route.failed(key, error)
            self.failing[key] = self._last[key] = error
        else:
            self.done[key] = error

    def take(self, keys: list[K], outcomes: Iterable[Outcome]) -> None:
        """Record a broker's response for keys."""
        told = {each.key: each for each in outcomes}
        for key in keys:
            if key not in told:
                text = f"the broker's response lacks {self.shown(key)}"
                self.done[key] = KafkaProtocolError(text)
            elif told[key].error_code:
                cls = for_code(told[key].error_code)
                text = told[key].error_message or cls.description
                self.fail(key, cls(about(f"{self._what} {self.shown(key)}", text)))
            else:
                self.done[key] = told[key].value

    def end(self, error: KafkaError) -> None:
        """Record an error, such as a timeout, as the final result for all keys that do not have a result yet."""
        for key in self.left():
            last = self._last.get(key)
            if isinstance(error, KafkaTimeoutError):
                reason = "there was no answer" if last is None else f"the last attempt failed with: {last}"
                own = KafkaTimeoutError(f"{self._what} {self.shown(key)}: timed out, {reason}")
                own.__cause__ = last or error
                self.done[key] = own
            else:
                self.done[key] = error

    @staticmethod
    def shown(key: Any) -> str:
        """Return a key as a string, for error messages."""
        if isinstance(key, TopicPartition | TopicPartitionReplica):
            return "-".join(map(str, key))
        return repr(key) if isinstance(key, str) else str(key)


async def ask_each(
    requests: AdminRequests,
    what: str,
    keys: Iterable[K],
    route: Route[K],
    ask: Ask[K],
    *,
    timeout_ms: int | None = None,
) -> dict[K, Any]:
    """Query all responsible brokers concurrently; return a value or a `KafkaError` for each key, in the keys' order.

    Arguments:
        what: the name of the operation in error messages.
        timeout_ms: how long to retry after retriable errors; None: ``request_timeout_ms``.
    """
    answers = _Answers(what, keys, route)

    async def ask_one(broker_id: int, some: list[K]) -> None:
        try:
            answers.take(some, await ask(broker_id, some))
        except KafkaError as error:
            for key in some:
                answers.fail(key, error)

    async def once() -> None:
        answers.failing.clear()
        routed = await route.find(answers.left())
        for key, error in routed.errors.items():
            answers.fail(key, error)
        await gather(ask_one(broker_id, some) for broker_id, some in routed.by_broker.items())
        if answers.failing:
            raise next(iter(answers.failing.values()))

    try:
        await requests.retry(what, once, requests.limit_ms(timeout_ms))
    except KafkaError as error:
        answers.end(error)
    return {key: answers.done[key] for key in answers.wanted}


def values_or_raise(results: Mapping[K, Any], raise_errors: bool = True) -> dict[K, Any]:
    """Return the results; with ``raise_errors``, raise the first error among them."""
    if raise_errors:
        for each in results.values():
            if isinstance(each, KafkaError):
                raise each
    return dict(results)


def error_classes(results: Mapping[K, Any]) -> dict[K, type[KafkaError]]:
    """Return the error class for each key; `NoError` means success.

    Raises the first error if no broker responded for any key.
    """
    unanswered = [each for each in results.values() if isinstance(each, KafkaError) and not _is_answer(each)]
    if unanswered and len(unanswered) == len(results):
        raise unanswered[0]
    return {key: type(each) if isinstance(each, KafkaError) else NoError for key, each in results.items()}


def _is_answer(error: KafkaError) -> bool:
    return isinstance(error, BrokerResponseError)


MakeRequest = Callable[[Sequence[TopicPartition]], "Request[Any]"]
ReadResponse = Callable[[Any], Iterable[Outcome]]


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    """Group partition numbers by topic."""
    found: dict[str, list[int]] = {}
    for topic, partition in partitions:
        found.setdefault(topic, []).append(partition)
    return found


class LeaderRoute(Route[TopicPartition]):
    """Routes partitions to their leaders, according to the current metadata from one broker. Does not create topics."""

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
    """Return the error for a missing partition of a topic with this number of partitions."""
    error = for_code(code or UnknownTopicOrPartitionError.errno)
    why = error.description
    if partitions:
        why = (
            f"the topic has the partitions 0 to {partitions - 1}"
            if partitions > 1
            else "the topic has only partition 0"
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
    """Query the leaders of partitions; return a value or a `KafkaError` for each. If a leader moves, query the new one.

    Arguments:
        what: the name of the operation in error messages.
        make_request: creates the request for some of the partitions.
        read_response: extracts the outcomes from a response.
        leader_id: the broker that leads all partitions, if known.
    """
    route = LeaderRoute(requests) if leader_id is None else Route[TopicPartition](leader_id)
    limit_ms = requests.limit_ms(timeout_ms) + MARGIN_MS
    ask = asking(requests, make_request, read_response, limit_ms, min_version)
    return await ask_each(requests, what, partitions, route, ask, timeout_ms=timeout_ms)
