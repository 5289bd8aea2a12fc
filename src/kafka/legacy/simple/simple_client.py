"""`SimpleClient`: see the package."""

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
    """A client that sends one request, of payload tuples, at a time and waits for the answers.

    It reads all metadata when it is created. The methods that send take `payloads`, `fail_on_error` and `callback`.
    With `fail_on_error` they raise the first error. Otherwise, answers contain error codes, and a `FailedPayloadsError`
    takes the place of a missing answer. Each answer is passed through `callback`. Topics may be given as bytes; answers
    contain them as given.

    Several threads may send at once; they share the metadata. A forked child process may use the client, or a `copy`:
    it opens its own connections.

    Arguments:
        hosts: "host:port,host:port", or a list of "host:port".
        client_id: the name of the client in brokers' logs.
        timeout: how long an answer may take, in seconds; None: without limit.
        correlation_id: accepted for old programs; connections number their requests on their own.

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
        """Take the arguments and read the metadata, without a warning."""
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

    # Life

    def close(self) -> None:
        """Close the connections; what is sent afterwards opens others."""
        self._connections.close()
        self._broker_connections.close()

    def copy(self) -> Self:
        """Make a client with the same metadata, for another thread or process. It connects when it is used."""
        return copy.deepcopy(self)

    def reinit(self) -> None:
        """Close the connections and reconnect. Raises `KafkaUnavailableError` if no server answers."""
        self.close()
        self._connections.connect()

    # Metadata

    def ensure_topic_exists(self, topic: str, timeout: float = 30) -> None:
        """Wait until a topic is known, which brokers create if that is their way.

        Raises `KafkaTimeoutError` after `timeout` seconds; `UnknownTopicOrPartitionError` if it does not come to be.
        """
        deadline = time.monotonic() + timeout
        while not self.has_metadata_for_topic(topic):
            if time.monotonic() > deadline:
                raise KafkaTimeoutError(f"Unable to create topic {topic}")
            self.load_metadata_for_topics(topic, ignore_leadernotavailable=True)
            if not self.has_metadata_for_topic(topic):
                time.sleep(_CREATION_PAUSE_S)

    def load_metadata_for_topics(self, *topics: str, **kwargs: Any) -> None:
        """Read the metadata of topics, of all if none is named, in the place of what was known of them.

        Arguments:
            topics: names; brokers may create those that do not exist.
            ignore_leadernotavailable: do not raise `LeaderNotAvailableError`.

        Raises:
            UnknownTopicOrPartitionError: a topic does not exist.
            LeaderNotAvailableError: a topic is being created, and has no leaders after most of a second.
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
        """Ask for the metadata of topics, given by name; gives a `MetadataResponse` of version 0."""
        return metadata_response(
            self._connections.run(lambda cluster: payload_requests.read_metadata(cluster, payloads))
        )

    def send_consumer_metadata_request(
        self, payloads: Any = (), fail_on_error: bool = True, callback: Callback = None
    ) -> ConsumerMetadataResponse:
        """Ask for the coordinator of a group, whose name `payloads` is."""
        group = text(payloads)
        found = self._connections.run(lambda cluster: payload_requests.find_coordinator(cluster, group))
        return ConsumerMetadataResponse(found.error_code, found.node_id, found.host, found.port)

    def _get_coordinator_for_group(self, group: str) -> BrokerMetadata:
        """Return the coordinator of a group. Raises the error that the broker answers."""
        found = self.send_consumer_metadata_request(group)
        check_error(found)
        return BrokerMetadata(found.nodeId, found.host, found.port)

    def _get_leader_for_partition(self, topic: str, partition: int) -> BrokerMetadata:
        """Return the leader of a partition, looked up if it is not known. Raises why there is none."""
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
            acks: 0: the broker sends no response, and no answers are returned; 1: the leader has written it; -1, or
                more than 1: all in-sync replicas have it.
            timeout: how long the broker may wait for the replicas, in milliseconds.
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
        """Read messages, at most one payload a partition.

        Arguments:
            max_wait_time: how long a broker may wait for `min_bytes`, in milliseconds.
        """
        answers = self._ask_leaders(list(payloads), fetch(int(max_wait_time), min_bytes), fail_on_error)
        return self._finish(answers, fail_on_error, callback)

    def send_offset_request(
        self, payloads: Iterable[Any] = (), fail_on_error: bool = True, callback: Callback = None
    ) -> list[Any]:
        """Find offsets before times, the newest first.

        Today's brokers do not tell where segments begin: more than one offset means that and the first one.
        """
        ask = partial(self._ask_leaders, fail_on_error=fail_on_error)
        return self._finish(offsets_before(ask, list(payloads)), fail_on_error, callback)

    def send_list_offset_request(
        self, payloads: Iterable[Any] = (), fail_on_error: bool = True, callback: Callback = None
    ) -> list[Any]:
        """Find the first offsets at or after times, with the times of their messages."""
        answers = self._ask_leaders(list(payloads), OFFSETS_WITH_TIMES, fail_on_error)
        return self._finish(answers, fail_on_error, callback)

    # Groups

    def send_offset_commit_request(
        self, group: str, payloads: Iterable[Any] = (), fail_on_error: bool = True, callback: Callback = None
    ) -> list[Any]:
        """Commit offsets of a group."""
        return self._finish(
            self._ask_coordinator(group, list(payloads), offset_commit(text(group))), fail_on_error, callback
        )

    def send_offset_fetch_request(
        self, group: str, payloads: Iterable[Any] = (), fail_on_error: bool = True, callback: Callback = None
    ) -> list[Any]:
        """Read offsets of a group; a partition without one has the error `UnknownTopicOrPartitionError`."""
        payloads = list(payloads)
        api = offset_fetch(text(group), payloads, none_is_an_error=True)
        return self._finish(self._ask_coordinator(group, payloads, api), fail_on_error, callback)

    def send_offset_fetch_request_kafka(
        self, group: str, payloads: Iterable[Any] = (), fail_on_error: bool = True, callback: Callback = None
    ) -> list[Any]:
        """Read offsets of a group; a partition without one has the offset -1."""
        payloads = list(payloads)
        api = offset_fetch(text(group), payloads, none_is_an_error=False)
        return self._finish(self._ask_coordinator(group, payloads, api), fail_on_error, callback)

    # Inside

    def _ask_leaders(self, payloads: list[Any], api: Api, fail_on_error: bool) -> list[Any]:
        """Send payloads to the leaders of their partitions; gives the answers in the order of the payloads.

        Metadata are forgotten where a broker did not answer: most often they are out of date.
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
        """Send payloads to the coordinator of a group; gives the answers in the order of the payloads."""
        limit_s = _COORDINATOR_TIMEOUT_S if self.timeout is None else min(self.timeout, _COORDINATOR_TIMEOUT_S)
        answers = self._connections.run(
            lambda cluster: payload_requests.ask_coordinator(cluster, text(group), payloads, api, limit_s * 1000)
        )
        return [answers[text(payload.topic), payload.partition] for payload in payloads]

    def _finish(self, answers: Iterable[Any], fail_on_error: bool, callback: Callback) -> list[Any]:
        """Raise the first error, if that is wanted, and call back with each answer."""
        finished = []
        for answer in answers:
            if fail_on_error:
                self._raise_on_response_error(answer)
            finished.append(answer if callback is None else callback(answer))
        return finished

    def _raise_on_response_error(self, answer: Any) -> bool:
        """Raise the error of an answer; False if it has none."""
        try:
            check_error(answer)
        except (UnknownTopicOrPartitionError, NotLeaderForPartitionError, LeaderNotAvailableError):
            self.reset_topic_metadata(answer.topic)
            raise
        return False
