"""`SimpleClient` of 0.9 to 1.4."""

from __future__ import annotations

import copy
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, ClassVar, Self

from kafka.config.connection import parse_servers
from kafka.errors import (
    FailedPayloadsError,
    KafkaError,
    KafkaTimeoutError,
    KafkaUnavailableError,
    LeaderNotAvailableError,
    NotLeaderForPartitionError,
    UnknownTopicOrPartitionError,
    check_error,
)
from kafka.legacy.deprecation import warn_deprecated
from kafka.legacy.payloads import BrokerMetadata, ConsumerMetadataResponse, ProduceResponsePayload
from kafka.legacy.simple import payload_requests
from kafka.legacy.simple.apis import OFFSETS_WITH_TIMES, Api, fetch, offset_commit, offset_fetch, produce, text
from kafka.legacy.simple.client_metadata import KnownMetadata, metadata_response
from kafka.legacy.simple.connections import BrokerConnections, Connections, SendsOwnRequests
from kafka.legacy.simple.payload_requests import offsets_before
from kafka.structs import TopicPartition

Callback = Callable[[Any], Any] | None
_COORDINATOR_TIMEOUT_S = 30.0
_CREATION_PAUSE_S = 0.5


class SimpleClient(KnownMetadata, SendsOwnRequests):
    """A client that sends one request at a time, built from payload tuples, and waits for the responses.

    It requests all metadata when it is created. Methods that send requests have the arguments `payloads`,
    `fail_on_error` and `callback`. With `fail_on_error` they raise the first error. Otherwise, response payloads
    contain error codes, and a `FailedPayloadsError` replaces a missing response. Each response payload is passed
    through `callback`. Topic names may be bytes; they are then bytes in response payloads too.

    Several threads may send concurrently; they share the metadata. In a forked child process, the client or a `copy` of
    it opens new connections.

    Arguments:
        hosts: "host:port,host:port", or a list of "host:port".
        client_id: the name of the client in brokers' logs.
        timeout: maximum time to wait for a response in seconds; None: no limit.
        correlation_id: accepted for compatibility; connections number their requests themselves.

    Raises `KafkaUnavailableError` if no server answers.
    """

    CLIENT_ID: ClassVar[Any] = "kafka-python"
    DEFAULT_SOCKET_TIMEOUT_SECONDS: ClassVar[int] = 120

    def __init__(
        self,
        hosts: str | bytes | Sequence[Any],
        client_id: str | bytes = CLIENT_ID,
        timeout: float | None = DEFAULT_SOCKET_TIMEOUT_SECONDS,
        correlation_id: int = 0,
    ) -> None:
        warn_deprecated("SimpleClient is deprecated: use KafkaProducer, KafkaConsumer and KafkaAdminClient")
        self._open(hosts, client_id, timeout, correlation_id)

    def _open(
        self,
        hosts: str | bytes | Sequence[Any],
        client_id: str | bytes = CLIENT_ID,
        timeout: float | None = DEFAULT_SOCKET_TIMEOUT_SECONDS,
        correlation_id: int = 0,
    ) -> None:
        """Initialize the client, without a deprecation warning."""
        super().__init__()
        self.client_id = client_id
        self.timeout = timeout
        self.correlation_id = correlation_id
        given = text(hosts)
        self.hosts = list(parse_servers("hosts", given if isinstance(given, str) else [text(host) for host in given]))
        self._connections = Connections(self.hosts, text(client_id), timeout)
        self._broker_connections = BrokerConnections(text(client_id), timeout)
        self.load_metadata_for_topics()

    def __repr__(self) -> str:
        return f"<SimpleClient client_id={getattr(self, 'client_id', None)!r}>"

    # Connections

    def close(self) -> None:
        """Close the connections; the next request reconnects."""
        self._connections.close()
        self._broker_connections.close()

    def copy(self) -> Self:
        """Return a client with the same metadata, for another thread or process. It connects on first use."""
        return copy.deepcopy(self)

    def reinit(self) -> None:
        """Close the connections and reconnect. Raises `KafkaUnavailableError` if no server answers."""
        self.close()
        self._connections.connect()

    # Metadata

    def ensure_topic_exists(self, topic: str, timeout: float = 30) -> None:
        """Wait until a topic is known; brokers may create it.

        Raises `KafkaTimeoutError` after `timeout` seconds, and `UnknownTopicOrPartitionError` if the topic is not
        created.
        """
        deadline = time.monotonic() + timeout
        while not self.has_metadata_for_topic(topic):
            if time.monotonic() > deadline:
                raise KafkaTimeoutError(f"Unable to create topic {topic}")
            self.load_metadata_for_topics(topic, ignore_leadernotavailable=True)
            if not self.has_metadata_for_topic(topic):
                time.sleep(_CREATION_PAUSE_S)

    def load_metadata_for_topics(self, *topics: str, **kwargs: Any) -> None:
        """Replace the metadata for topics, or for all topics if none is named.

        Arguments:
            topics: names; brokers may create topics that do not exist.
            ignore_leadernotavailable: whether to suppress `LeaderNotAvailableError`.

        Raises:
            UnknownTopicOrPartitionError: a topic does not exist.
            LeaderNotAvailableError: a topic is being created, and still has no leaders after almost a second.
            KafkaUnavailableError: no broker answers.
        """
        if topics:
            self.reset_topic_metadata(*topics)
        else:
            self.reset_all_metadata()
        response = self.send_metadata_request(topics)
        self._take_in(response, topics, kwargs.get("ignore_leadernotavailable", False))

    def send_metadata_request(
        self, payloads: Sequence[Any] = (), fail_on_error: bool = True, callback: Callback = None
    ) -> Any:
        """Request metadata for topics, given by name; return a `MetadataResponse` in version 0."""
        return metadata_response(
            self._connections.run(lambda cluster: payload_requests.read_metadata(cluster, payloads))
        )

    def send_consumer_metadata_request(
        self, payloads: Any = (), fail_on_error: bool = True, callback: Callback = None
    ) -> ConsumerMetadataResponse:
        """Request a group's coordinator; `payloads` is the group's name."""
        group = text(payloads)
        found = self._connections.run(lambda cluster: payload_requests.find_coordinator(cluster, group))
        return ConsumerMetadataResponse(found.error_code, found.node_id, found.host, found.port)

    def _get_coordinator_for_group(self, group: str) -> BrokerMetadata:
        """Return a group's coordinator. Raises the broker's error."""
        found = self.send_consumer_metadata_request(group)
        check_error(found)
        return BrokerMetadata(found.nodeId, found.host, found.port)

    def _get_leader_for_partition(self, topic: str, partition: int) -> BrokerMetadata:
        """Return the leader of a partition, looking it up if necessary. Raises an error if there is no leader."""
        place = TopicPartition(text(topic), partition)
        if self.topics_to_brokers.get(place) is None:
            self.load_metadata_for_topics(place.topic)
        return self.brokers.get(self._known_leader(place)) or BrokerMetadata(self._known_leader(place), "", -1)

    # Partitions

    def send_produce_request(
        self,
        payloads: Iterable[Any] = (),
        acks: int = 1,
        timeout: int = 1000,
        fail_on_error: bool = True,
        callback: Callback = None,
    ) -> list[Any]:
        """Append messages, at most one payload per partition.

        Arguments:
            acks: 0: the broker does not respond, and the result is empty; 1: wait for the leader; -1, or more than 1:
                wait for all in-sync replicas.
            timeout: maximum time that the broker waits for the replicas, in milliseconds.
        """
        payloads = list(payloads)
        full = [payload for payload in payloads if payload.messages]
        found = iter(self._ask_leaders(full, produce(full, acks, timeout), fail_on_error))
        answers = [next(found) if p.messages else ProduceResponsePayload(p.topic, p.partition, 0, -1) for p in payloads]
        return self._finish([answer for answer in answers if answer is not None], fail_on_error, callback)

    def send_fetch_request(
        self,
        payloads: Iterable[Any] = (),
        fail_on_error: bool = True,
        callback: Callback = None,
        max_wait_time: int = 100,
        min_bytes: int = 4096,
    ) -> list[Any]:
        """Fetch messages, at most one payload per partition.

        Arguments:
            max_wait_time: maximum time that a broker waits for `min_bytes`, in milliseconds.
        """
        answers = self._ask_leaders(list(payloads), fetch(int(max_wait_time), min_bytes), fail_on_error)
        return self._finish(answers, fail_on_error, callback)

    def send_offset_request(
        self, payloads: Iterable[Any] = (), fail_on_error: bool = True, callback: Callback = None
    ) -> list[Any]:
        """Return offsets before the given times, newest first.

        Today's brokers do not return segment offsets, so at most two offsets are returned: one offset, and the first
        offset of the partition.
        """
        ask = partial(self._ask_leaders, fail_on_error=fail_on_error)
        return self._finish(offsets_before(ask, list(payloads)), fail_on_error, callback)

    def send_list_offset_request(
        self, payloads: Iterable[Any] = (), fail_on_error: bool = True, callback: Callback = None
    ) -> list[Any]:
        """Return the first offset at or after each time, with the timestamp of its message."""
        answers = self._ask_leaders(list(payloads), OFFSETS_WITH_TIMES, fail_on_error)
        return self._finish(answers, fail_on_error, callback)

    # Groups

    def send_offset_commit_request(
        self, group: str, payloads: Iterable[Any] = (), fail_on_error: bool = True, callback: Callback = None
    ) -> list[Any]:
        """Commit offsets for a group."""
        return self._finish(
            self._ask_coordinator(group, list(payloads), offset_commit(text(group))), fail_on_error, callback
        )

    def send_offset_fetch_request(
        self, group: str, payloads: Iterable[Any] = (), fail_on_error: bool = True, callback: Callback = None
    ) -> list[Any]:
        """Return a group's offsets; for a partition without one, the error is `UnknownTopicOrPartitionError`."""
        payloads = list(payloads)
        api = offset_fetch(text(group), payloads, none_is_an_error=True)
        return self._finish(self._ask_coordinator(group, payloads, api), fail_on_error, callback)

    def send_offset_fetch_request_kafka(
        self, group: str, payloads: Iterable[Any] = (), fail_on_error: bool = True, callback: Callback = None
    ) -> list[Any]:
        """Return a group's offsets; for a partition without one, the offset is -1."""
        payloads = list(payloads)
        api = offset_fetch(text(group), payloads, none_is_an_error=False)
        return self._finish(self._ask_coordinator(group, payloads, api), fail_on_error, callback)

    # Internals

    def _ask_leaders(self, payloads: list[Any], api: Api, fail_on_error: bool) -> list[Any]:
        """Send payloads to the leaders of their partitions; return the response payloads in the same order.

        If a broker does not answer, the metadata for its partitions is discarded, because it is probably out of date.
        """
        by_leader: dict[int, list[Any]] = defaultdict(list)
        answers: dict[tuple[str, int], Any] = {}
        for payload in payloads:
            try:
                by_leader[self._get_leader_for_partition(payload.topic, payload.partition).nodeId].append(payload)
            except KafkaUnavailableError as error:
                answers |= payload_requests.failed([payload], error)
            except (LeaderNotAvailableError, UnknownTopicOrPartitionError) as error:
                if fail_on_error:
                    raise
                answers |= payload_requests.failed([payload], error)
        answers |= self._exchange(by_leader, api)
        if any(isinstance(answer, FailedPayloadsError) for answer in answers.values()):
            self.reset_all_metadata()
        found = [answers[text(payload.topic), payload.partition] for payload in payloads]
        return [answer() if callable(answer) else answer for answer in found]

    def _exchange(self, by_leader: dict[int, list[Any]], api: Api) -> dict[tuple[str, int], Any]:
        """Send payloads to their leaders; see `payload_requests.ask_leaders`."""
        if len(by_leader) == 1:
            exchange = payload_requests.LeaderExchange(*next(iter(by_leader.items())), api)
            try:
                response = self._connections.exchange(exchange.start)
            except KafkaError as error:
                return exchange.failed(error)
            if response is not None:
                return exchange.answers(response)
        return self._connections.run(partial(payload_requests.ask_leaders, by_leader=by_leader, api=api))

    def _ask_coordinator(self, group: str, payloads: list[Any], api: Api) -> list[Any]:
        """Send payloads to a group's coordinator; return the response payloads in the same order."""
        limit_s = _COORDINATOR_TIMEOUT_S if self.timeout is None else min(self.timeout, _COORDINATOR_TIMEOUT_S)
        answers = self._connections.run(
            lambda cluster: payload_requests.ask_coordinator(cluster, text(group), payloads, api, limit_s * 1000)
        )
        return [answers[text(payload.topic), payload.partition] for payload in payloads]

    def _finish(self, answers: Iterable[Any], fail_on_error: bool, callback: Callback) -> list[Any]:
        """Raise the first error if requested, and pass each response payload through the callback."""
        finished = []
        for answer in answers:
            if fail_on_error:
                self._raise_on_response_error(answer)
            finished.append(answer if callback is None else callback(answer))
        return finished

    def _raise_on_response_error(self, answer: Any) -> bool:
        """Raise the error of a response; return False if there is none."""
        try:
            check_error(answer)
        except (UnknownTopicOrPartitionError, NotLeaderForPartitionError, LeaderNotAvailableError):
            self.reset_topic_metadata(answer.topic)
            raise
        return False
