"""Sends the requests of admin operations to the right broker, and retries those that can safely be repeated."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from kafka.cluster import ClusterAccess
from kafka.cluster.protocols import CoordinatorKind
from kafka.cluster.telemetry.client_telemetry import Telemetry
from kafka.config import ConnectionOptions
from kafka.errors import (
    CoordinatorLoadInProgressError,
    CoordinatorNotAvailableError,
    KafkaConnectionError,
    KafkaError,
    KafkaProtocolError,
    KafkaTimeoutError,
    NotControllerError,
    NotCoordinatorError,
    for_code,
)

if TYPE_CHECKING:
    from kafka.wire import Request


MARGIN_MS = 5_000
"""The time added to the broker's own time limit when waiting for its response."""

T = TypeVar("T")
ErrorCodes = Callable[[Any], list[int]]


class FinalError(Exception):
    """Wraps an error that must not be retried, even if its class is retriable. Callers receive the wrapped error.

    A request that failed after it was sent may have been carried out.
    """

    def __init__(self, error: KafkaError) -> None:
        super().__init__(error)
        self.error = error


class AdminRequests:
    """Sends the requests of admin operations.

    A change by the controller is retried only if it cannot have begun, because there was no connection or because
    another broker has become the controller. Reads and requests to coordinators can safely be repeated, and are
    retried for ``request_timeout_ms``. Other errors are raised immediately.
    """

    def __init__(self, cluster: ClusterAccess, options: ConnectionOptions, telemetry: Telemetry) -> None:
        self.cluster = cluster
        self.options = options
        self.telemetry = telemetry

    def limit_ms(self, timeout_ms: int | None) -> int:
        """Return the time limit to send to the broker, in milliseconds."""
        return self.options.request_timeout_ms if timeout_ms is None else timeout_ms

    async def retry(self, what: str, operation: Callable[[], Awaitable[T]], limit_ms: float) -> T:
        """Retry an operation while its errors are retriable and are not a `FinalError`."""
        try:
            return await self.cluster.retry(what, operation, limit_ms)
        except FinalError as final:
            raise final.error from final.error.__cause__

    async def controller(
        self,
        request: "Request[Any]",
        error_codes: ErrorCodes,
        timeout_ms: int | None = None,
        min_version: int = 0,
        max_version: int | None = None,
        *,
        repeatable: bool = False,
    ) -> Any:
        """Send a request to the controller; retry if the controller has moved.

        Arguments:
            error_codes: finds the error codes in the response.
            repeatable: True for a read, which is retried after a retriable error.
        """
        limit_ms = self.limit_ms(timeout_ms) + MARGIN_MS

        async def once() -> Any:
            connection = await self.cluster.connection(await self.cluster.controller())
            version = connection.api_versions.version_for(type(request), min_version, max_version)
            try:
                response = await connection.send(request, version, limit_ms)
            except KafkaError as error:
                if repeatable:
                    raise
                raise FinalError(error) from error
            if NotControllerError.errno in error_codes(response):
                raise NotControllerError("the controller has moved")
            return response

        return await self.retry(_name_of(type(request)), once, limit_ms)

    async def any_broker(
        self,
        request: "Request[Any]",
        node_id: int | None = None,
        min_version: int = 0,
        max_version: int | None = None,
        *,
        error_codes: ErrorCodes | None = None,
        repeatable: bool = True,
        timeout_ms: int | None = None,
    ) -> Any:
        """Send a request to the broker ``node_id``; None selects the least loaded broker.

        Arguments:
            error_codes: finds the error codes in the response; the request is retried while one of them is retriable.
            repeatable: False for a request that must not be repeated; errors after sending are raised immediately.
        """
        limit_ms = self.limit_ms(timeout_ms)

        async def once() -> Any:
            cluster = self.cluster
            connection = await (cluster.any_connection() if node_id is None else cluster.connection(node_id))
            version = connection.api_versions.version_for(type(request), min_version, max_version)
            try:
                response = await connection.send(request, version, limit_ms + (0 if timeout_ms is None else MARGIN_MS))
            except KafkaError as error:
                if repeatable:
                    raise
                raise FinalError(error) from error
            for code in error_codes(response) if error_codes is not None else ():
                if for_code(code).retriable:
                    raise for_code(code)(f"in the response to {type(request).__name__}")
            return response

        return await self.retry(_name_of(type(request)), once, limit_ms)

    async def broker_ids(self, given: list[int] | None) -> list[int]:
        """Return the given ids; if ``given`` is None, return the ids of all current brokers."""
        if given is not None:
            return given
        limit_ms = self.options.request_timeout_ms
        await self.retry("looking up the brokers", lambda: self.cluster.refresh_metadata(()), limit_ms)
        return sorted(node.nodeId for node in self.cluster.metadata.brokers())

    async def coordinator(
        self,
        group_id: str,
        make_request: "Callable[[int], tuple[Request[Any], int]]",
        request_type: "type[Request[Any]]",
        error_codes: ErrorCodes,
        node_id: int | None = None,
        kind: CoordinatorKind = "group",
    ) -> Any:
        """Send a request to a coordinator; retry if it is unavailable, moving, loading or unreachable.

        Arguments:
            group_id: the group, or the transactional id, depending on ``kind``.
            make_request: called with the version that the coordinator supports; returns the request and its version.
            error_codes: finds the error codes in the response.
            node_id: the coordinator, if the caller knows it.
        """

        async def once() -> Any:
            target = node_id if node_id is not None else await self.cluster.coordinator(kind, group_id)
            try:
                connection = await self.cluster.connection(target)
                request, version = make_request(connection.api_versions.version_for(request_type))
                response = await connection.send(request, version)
            except (KafkaConnectionError, KafkaTimeoutError):
                self.cluster.forget_coordinator(kind, group_id)  # another broker may be the coordinator now
                raise
            for code in error_codes(response):
                if code in (NotCoordinatorError.errno, CoordinatorNotAvailableError.errno):
                    self.cluster.forget_coordinator(kind, group_id)
                    raise for_code(code)(f"coordinator of {kind} {group_id!r}")
                if code == CoordinatorLoadInProgressError.errno:
                    raise CoordinatorLoadInProgressError(f"coordinator of {kind} {group_id!r}")
            return response

        what = f"{_name_of(request_type)} of {kind} {group_id!r}"
        return await self.cluster.retry(what, once, self.options.request_timeout_ms)


def _name_of(request: "type[Request[Any]]") -> str:
    """Return Kafka's name for a request, for error messages."""
    return request.__name__.removesuffix("Request")


def own_error_code(response: Any) -> list[int]:
    """Return the top-level error code of a response, in a list."""
    return [response.error_code]


def check_answered(what: str, asked: Iterable[object], answered: Iterable[object]) -> None:
    """Raise `KafkaProtocolError` if a broker's response lacks something that was requested."""
    left_out = set(asked) - set(answered)
    if left_out:
        some = ", ".join(sorted(repr(each) for each in left_out)[:3])
        raise KafkaProtocolError(f"the broker's response lacks {len(left_out)} {what}, such as {some}")


def about(what: str, text: str) -> str:
    """Prefix a broker's message with its subject, unless the message already names it."""
    named = re.findall("'[^']+'", what)
    return text if named and all(each in text for each in named) else f"{what}: {text}"


def raise_first(errors: list[tuple[str, int, str | None]]) -> None:
    """Raise the first error in a list of triples of subject, error code, and the broker's message."""
    for what, code, message in errors:
        if code:
            error = for_code(code)
            others = sum(1 for _, other, _ in errors if other) - 1
            more = f" (and {others} more failed)" if others else ""
            raise error(f"{about(what, message or error.description)}{more}")


def unchanged(response: Any) -> Any:
    """Return the response unchanged."""
    return response


async def gather(operations: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Run operations concurrently and return their results in order.

    Raises the first error. On an error or cancellation, the remaining operations are cancelled and awaited.
    """
    tasks = [asyncio.ensure_future(operation) for operation in operations]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        unfinished = [task for task in tasks if not task.done()]
        for task in unfinished:
            task.cancel()
        if unfinished:
            await asyncio.wait(unfinished)
