"""Recognizes brokers before 0.10, which cannot be asked for their versions: 0.9 is silent then, 0.8 hangs up.

Other brokers may do either for a while, so that is not enough. A broker is taken for an old one if, on a second
connection, it answers the oldest request for metadata, and is silent or hangs up again when asked for its versions.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from kafka.config import SecurityOptions
from kafka.errors import InvalidReceiveError, KafkaConnectionError, KafkaError
from kafka.net.connection import Connection
from kafka.wire.api.api_versions import ApiVersionsRequest
from kafka.wire.api.metadata import MetadataRequest

if TYPE_CHECKING:
    from kafka.wire import Request

log = logging.getLogger(__name__)

T = TypeVar("T")
Release = tuple[int, ...]

_SILENCE_S = 1.0
"""How long a broker may take to tell its versions before the second connection is made."""
_SECOND_SILENCE_S = 0.5
_LONG_SILENCE_S = 2.0
_SILENT, _HANGS_UP = (0, 9), (0, 8, 2)
_known: set[tuple[str, int]] = set()
"""Addresses where an old broker was found, which are not given the first silence again."""


class OldBrokerError(KafkaConnectionError):
    """The broker is older than 0.10, and of this release as far as can be told; not for users."""

    def __init__(self, release: Release) -> None:
        super().__init__("the broker is too old to tell its versions")
        self.release = release


async def unless_old(
    asking: Coroutine[Any, Any, T], address: tuple[str, int], look: Callable[[], Awaitable[Release | None]]
) -> T:
    """What ``asking`` for versions gives; where it takes long, ``look`` whether the broker is old meanwhile.

    Raises `OldBrokerError`, and what ``asking`` raises.
    """
    answer = asyncio.ensure_future(asking)
    looking: asyncio.Future[Release | None] | None = None
    try:
        await asyncio.wait((answer,), timeout=0 if address in _known else _SILENCE_S)
        if not answer.done():
            looking = asyncio.ensure_future(look())
            await asyncio.wait((answer, looking), return_when=asyncio.FIRST_COMPLETED)
            if not answer.done() and (release := looking.result()) is not None:
                _known.add(address)
                raise OldBrokerError(release)
        return await answer
    finally:
        await _end(answer, looking)


async def _end(*futures: "asyncio.Future[Any] | None") -> None:
    under_way = [each for each in futures if each is not None]
    for each in under_way:
        each.cancel()
    await asyncio.gather(*under_way, return_exceptions=True)


async def look_whether_foreign(connection: Connection, security: SecurityOptions) -> None:
    """As `look_whether_old`, of a listener that asks for a login, which no old broker does that is known here.

    Raises `InvalidReceiveError`.
    """
    try:
        await connection.connect(security)
        await _patiently(connection, ApiVersionsRequest())
    except InvalidReceiveError:
        raise
    except KafkaError as error:
        log.debug("%s is not known to be something else than a broker: %s", connection.described_as, error)
    finally:
        connection.abort(KafkaConnectionError("it was only asked what it is"))


async def _patiently(connection: Connection, request: "Request[Any]") -> None:
    """Send a request; where no answer comes, say that this was all: a server of another kind answers to that."""
    asking = asyncio.ensure_future(connection.send(request, 0))
    try:
        await asyncio.wait((asking,), timeout=_LONG_SILENCE_S)
        if not asking.done():
            connection.end_sending()
        await asking
    finally:
        asking.cancel()


async def look_whether_old(connection: Connection, security: SecurityOptions) -> Release | None:
    """The release of an old broker, found on a separate connection, which is not open yet; None: it is not an old one.

    Raises `InvalidReceiveError` if the peer is not a broker at all, such as an HTTP server.
    """
    try:
        await connection.connect(security)
        await _patiently(connection, MetadataRequest(topics=[]))
        try:
            async with asyncio.timeout(_SECOND_SILENCE_S):
                await connection.send(ApiVersionsRequest(), 0)
        except TimeoutError:
            return _SILENT
        except KafkaConnectionError:
            return _HANGS_UP
        return None
    except InvalidReceiveError:
        raise
    except KafkaError as error:
        log.debug("%s is not known to be older than 0.10: %s", connection.described_as, error)
        return None
    finally:
        connection.abort(KafkaConnectionError("it was only asked what it is"))
