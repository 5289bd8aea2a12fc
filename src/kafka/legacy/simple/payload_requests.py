"""Sends the requests of a `SimpleClient` to leaders (without retries), coordinators or any broker. Runs on the loop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from kafka.cluster import ClusterClient
from kafka.cluster.metadata_requests import metadata_request
from kafka.errors import (
    Cancelled,
    CoordinatorLoadInProgressError,
    CoordinatorNotAvailableError,
    FailedPayloadsError,
    IllegalStateError,
    InvalidMetadataError,
    KafkaError,
    KafkaTimeoutError,
    KafkaUnavailableError,
    LeaderNotAvailableError,
    NotCoordinatorError,
    UnknownTopicOrPartitionError,
    for_code,
)
from kafka.legacy.payloads import OffsetRequestPayload, OffsetResponsePayload
from kafka.legacy.simple.apis import FIRST_OFFSETS, Api, OffsetsOfSegments, text
from kafka.wire.api.find_coordinator import FindCoordinatorRequest
from kafka.wire.api.metadata import MetadataRequest

if TYPE_CHECKING:
    from kafka.net import Answered, Connection
    from kafka.wire.api.metadata import MetadataResponse

log = logging.getLogger("kafka.client")

_NOT_REACHED = (InvalidMetadataError, KafkaTimeoutError, Cancelled, IllegalStateError)
"""Errors raised if a broker does not answer or has gone away, or if another thread has closed the connection."""
_TRIES = 3
"""Number of brokers to try for requests that any broker can answer."""
_CREATION_PAUSES_S = (0.05, 0.1, 0.2, 0.4)
"""Pauses in seconds while a requested topic is being created, during which today's brokers report it as unknown."""
_BEING_CREATED = (UnknownTopicOrPartitionError.errno, LeaderNotAvailableError.errno)
_ONE_KEY_UNTIL = 3
"""The last version of FindCoordinator with a single key."""
_WRONG_COORDINATOR = (NotCoordinatorError.errno, CoordinatorNotAvailableError.errno)
_COORDINATOR_MOVES = (*_WRONG_COORDINATOR, CoordinatorLoadInProgressError.errno)


async def read_metadata(cluster: ClusterClient, topics: Iterable[Any]) -> MetadataResponse:
    """Request metadata for topics, or for all topics if none are named. Brokers may create the named topics.

    Raises `KafkaUnavailableError` if no broker answers.
    """
    names = {text(topic) for topic in topics}
    response = await _ask_metadata(cluster, names)
    for pause in _CREATION_PAUSES_S:
        if not names or not any(topic.error_code in _BEING_CREATED for topic in response.topics):
            break
        await asyncio.sleep(pause)
        response = await _ask_metadata(cluster, names)
    return response


async def _ask_metadata(cluster: ClusterClient, names: set[str]) -> MetadataResponse:
    async def ask(connection: Connection) -> MetadataResponse:
        version = connection.api_versions.version_for(MetadataRequest)
        return await connection.send(metadata_request(names or None, version, may_create=True), version)

    response: MetadataResponse = await _ask_any(cluster, ask)
    return response


async def find_coordinator(cluster: ClusterClient, group: str) -> Any:
    """Ask any broker for a group's coordinator; return a response with an error code, node, host and port.

    Raises `KafkaUnavailableError` if no broker answers.
    """
    request = FindCoordinatorRequest(key=group, key_type=0)

    async def ask(connection: Connection) -> Any:
        version = connection.api_versions.version_for(FindCoordinatorRequest, 0, _ONE_KEY_UNTIL)
        return await connection.send(request, version)

    return await _ask_any(cluster, ask)


async def _ask_any(cluster: ClusterClient, ask: Any) -> Any:
    """Ask a broker, and try others if it fails."""
    for attempt in range(_TRIES):
        try:
            return await ask(await cluster.any_connection())
        except _NOT_REACHED as error:
            log.warning("a broker did not answer (try %d of %d): %s", attempt + 1, _TRIES, error)
            failure = error
    raise KafkaUnavailableError(f"All servers failed to process request: {failure}") from failure


async def ask_leaders(
    cluster: ClusterClient, by_leader: Mapping[int, Sequence[Any]], api: Api
) -> dict[tuple[str, int], Any]:
    """Send payloads to the brokers with the given ids, concurrently.

    For each partition, returns a function that creates the response payload, a `FailedPayloadsError`, or None if no
    response is expected. Call the functions in the caller's thread, because they may take a long time.
    """
    answers: dict[tuple[str, int], Any] = {}
    asked = [_ask_leader(cluster, node_id, payloads, api) for node_id, payloads in by_leader.items()]
    found = await asyncio.gather(*asked, return_exceptions=True)  # waits for all tasks, even after an error
    for each in found:
        if isinstance(each, BaseException):
            raise each
        answers |= each
    return answers


class LeaderExchange:
    """Like `ask_leaders`, but for a single leader that is already connected, without creating a task.

    Arguments:
        node_id: the leader.
        payloads: the payloads for the leader.
    """

    def __init__(self, node_id: int, payloads: Sequence[Any], api: Api) -> None:
        self._node_id = node_id
        self._payloads = payloads
        self._api = api
        self._request: Any = None

    def start(self, cluster: ClusterClient, reply: Answered[Any]) -> None:
        """Send the request, on the loop. The reply is None if the leader is not connected."""
        connection = cluster.ready_connection(self._node_id, self._api.channel)
        if connection is None:
            reply.set_result(None)
            return
        version = connection.api_versions.version_for(self._api.message, 0, self._api.max_version)
        self._request = self._api.request(self._payloads, version)
        connection.post_for(reply, self._request, version)

    def answers(self, response: Any) -> dict[tuple[str, int], Any]:
        """Return the results, as `ask_leaders` does."""
        return _answers(self._request, response, self._payloads, self._api)

    def failed(self, error: Exception) -> dict[tuple[str, int], Any]:
        """Return the results if the broker did not answer; raise ``error`` if the failure has another cause."""
        if not isinstance(error, _NOT_REACHED):
            raise error
        log.warning("broker %d did not answer: %s", self._node_id, error)
        return failed(self._payloads, error)


async def _ask_leader(
    cluster: ClusterClient, node_id: int, payloads: Sequence[Any], api: Api
) -> dict[tuple[str, int], Any]:
    try:
        if cluster.metadata.broker_metadata(node_id) is None:
            await cluster.refresh_metadata(())
        return await _exchange(await cluster.connection(node_id, api.channel), payloads, api)
    except _NOT_REACHED as error:
        log.warning("broker %d did not answer: %s", node_id, error)
        return failed(payloads, error)


async def ask_coordinator(
    cluster: ClusterClient, group: str, payloads: Sequence[Any], api: Api, timeout_ms: float
) -> dict[tuple[str, int], Any]:
    """Send payloads to a group's coordinator, retrying while it moves or is loading; return the response payloads."""

    async def once() -> dict[tuple[str, int], Any]:
        node_id = await cluster.coordinator("group", group)
        made = await _exchange(await cluster.connection(node_id, "coordinator"), payloads, api)
        answers = {place: answer() if callable(answer) else answer for place, answer in made.items()}
        codes = {answer.error for answer in answers.values() if not isinstance(answer, KafkaError)}
        for code in codes.intersection(_COORDINATOR_MOVES):
            if code in _WRONG_COORDINATOR:
                cluster.forget_coordinator("group", group)
            raise for_code(code)(f"coordinator of group {group!r}")
        return answers

    try:
        return await cluster.retry(f"offsets of group {group!r}", once, timeout_ms)
    except _NOT_REACHED as error:
        cluster.forget_coordinator("group", group)
        log.warning("the coordinator of group %r did not answer: %s", group, error)
        return failed(payloads, error)


async def _exchange(connection: Connection, payloads: Sequence[Any], api: Api) -> dict[tuple[str, int], Any]:
    """Send payloads in one request; for each, return a function that creates the response payload."""
    version = connection.api_versions.version_for(api.message, 0, api.max_version)
    request = api.request(payloads, version)
    return _answers(request, await connection.send(request, version), payloads, api)


def _answers(request: Any, response: Any, payloads: Sequence[Any], api: Api) -> dict[tuple[str, int], Any]:
    """For each payload, return a function that creates the response payload."""
    if getattr(request, "acks", None) == 0:  # the broker sends no response
        return dict.fromkeys(((text(p.topic), p.partition) for p in payloads), None)
    asked = {(text(payload.topic), payload.partition): payload for payload in payloads}
    found = {(topic, n): answer for topic, n, answer in api.answers(response) if (topic, n) in asked}
    answers: dict[tuple[str, int], Any] = {place: partial(answer, asked[place]) for place, answer in found.items()}
    if len(answers) < len(asked):
        left_out = [payload for place, payload in asked.items() if place not in answers]
        answers |= failed(left_out, KafkaError("the broker left it out of its answer"))
    return answers


def failed(payloads: Iterable[Any], error: Exception) -> dict[tuple[str, int], Any]:
    """Return the results for payloads that did not reach a broker."""
    answers: dict[tuple[str, int], Any] = {}
    for payload in payloads:
        answers[text(payload.topic), payload.partition] = failure = FailedPayloadsError(payload, str(error))
        failure.__cause__ = error
    return answers


LATEST = -1
EARLIEST = -2

Ask = Callable[[list[Any], Api], list[Any]]
"""Sends payloads to the leaders of their partitions."""


def offsets_before(ask: Ask, payloads: list[Any]) -> list[Any]:
    """Return offsets before the times in payloads; if more than one is requested, also the partition's first offset.

    For a time after the last message, the result is the end of the partition. `ask` sends payloads to leaders.
    """
    answers = ask(payloads, FIRST_OFFSETS)
    answers = _filled(ask, payloads, answers, LATEST, lambda payload, found: not found)
    return _filled(ask, payloads, answers, EARLIEST, lambda payload, found: 0 < len(found) < payload.max_offsets)


def _filled(
    ask: Ask, payloads: list[Any], answers: list[Any], time: int, wanted: Callable[[Any, tuple[int, ...]], bool]
) -> list[Any]:
    """Return the response payloads, adding the offset at `time` to each for which `wanted` returns true."""
    lacking = [
        number
        for number, (payload, answer) in enumerate(zip(payloads, answers, strict=True))
        if payload.time != time and not _is_complete(answer) and wanted(payload, answer.offsets)
    ]
    if not lacking:
        return answers
    more = ask([_at(payloads[number], time) for number in lacking], FIRST_OFFSETS)
    filled = list(answers)
    for number, answer in zip(lacking, more, strict=True):
        filled[number] = answer if _is_error(answer) else _joined(filled[number], answer)
    return filled


def _at(payload: Any, time: int) -> OffsetRequestPayload:
    return OffsetRequestPayload(payload.topic, payload.partition, time, 1)


def _is_complete(answer: Any) -> bool:
    """Return whether to leave a response unchanged, because it is an error or contains segment offsets."""
    return _is_error(answer) or isinstance(answer, OffsetsOfSegments)


def _is_error(answer: Any) -> bool:
    return isinstance(answer, FailedPayloadsError) or bool(answer.error)


def _joined(first: OffsetResponsePayload, second: OffsetResponsePayload) -> OffsetResponsePayload:
    offsets: Any = (*dict.fromkeys((*first.offsets, *second.offsets)),)  # the result remains a tuple
    return first._replace(offsets=offsets)
