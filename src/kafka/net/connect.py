"""Opens connections that are ready for use: connects, negotiates API versions and authenticates.

The first request is ApiVersions (KIP-35, KIP-511) in version 3, which every broker since 2.4 supports, and which
contains the name of the client software. Version 4 adds nothing that the clients need, and some servers other than
Apache Kafka close the connection when they receive it. A broker before 2.4 rejects version 3 with error 35 and the
version that it supports, or closes the connection. The request is then retried in that version, or in version 0. After
an address has closed a connection, further connections to it start with version 0. Brokers before 0.10
do not support the request; `kafka.net.peer_probes` recognizes them, unless they require authentication.
"""

import dataclasses
import logging
from collections.abc import Callable

from kafka._addresses import format_address
from kafka.config import ConnectionOptions, SecurityOptions
from kafka.errors import KafkaConnectionError, KafkaError, UnsupportedVersionError, check_error
from kafka.net.broker_versions import CAN_BE_ASKED_SINCE, ApiVersions
from kafka.net.connection import Connection
from kafka.net.helper_threads import run_blocking
from kafka.net.open_stream import HungUpOn, check_proxy_library, in_brief
from kafka.net.peer_probes import OldBrokerError, look_whether_foreign, look_whether_old, unless_old
from kafka.net.sasl import SaslSession, check_mechanism
from kafka.net.statistics import NodeTraffic
from kafka.net.tls_context import TlsRefusedError
from kafka.version import DISTRIBUTION_VERSION
from kafka.wire.api.api_versions import ApiVersionsRequest, ApiVersionsResponse

log = logging.getLogger(__name__)

_GREETING = 3
_MODERN_SINCE = (2, 4)
_UNSUPPORTED_VERSION = UnsupportedVersionError.errno
_greetings: dict[tuple[str, int], int] = {}
NewConnection = Callable[[], Connection]


class _HungUp(KafkaConnectionError):
    """The broker closed the connection instead of answering ApiVersions."""

    hung_up_on = HungUpOn.GREETING


async def open_connection(
    host: str,
    port: int,
    options: ConnectionOptions,
    security: SecurityOptions,
    node_id: int = -1,
    traffic: NodeTraffic | None = None,
) -> Connection:
    """Connect to a broker, negotiate API versions (KIP-35, KIP-511) and authenticate.

    Arguments:
        traffic: counts requests and bytes; None: they are not counted.

    Raises `KafkaConnectionError` (with each address tried, and why it failed), `UnsupportedVersionError`,
    `UnsupportedSaslMechanismError`, `SaslAuthenticationFailedError`, and `KafkaConfigurationError`.
    """
    if security.proxy is not None:
        await run_blocking(check_proxy_library)
    check_mechanism(security)

    def new_connection() -> Connection:
        return Connection(host, port, options, node_id, traffic)

    try:
        return await _open_asking(new_connection, options, security, _first_greeting(host, port, options))
    except OldBrokerError as old:
        release = old.release
    address = format_address(host, port)
    log.info("%s does not report its API versions; assuming Kafka %s", address, ".".join(map(str, release)))
    return await _open(new_connection, dataclasses.replace(options, api_version=release), security, None)


async def _open_asking(
    new_connection: NewConnection, options: ConnectionOptions, security: SecurityOptions, greeting: int | None
) -> Connection:
    """Connect to a broker. If it closes the connection after the greeting, reconnect and use version 0."""
    hung_up: _HungUp | None = None
    for version in dict.fromkeys((greeting, 0)):
        try:
            connection = await _open(new_connection, options, security, version)
        except _HungUp as error:
            hung_up = error
            continue
        if hung_up is not None:
            _greetings[connection.host, connection.port] = 0
            log.info(
                "%s closes the connection on ApiVersions version %s; using version 0", connection.described_as, greeting
            )
        return connection
    release = await look_whether_old(new_connection(), security) if not security.uses_sasl else None
    if release is not None:
        raise OldBrokerError(release) from hung_up
    assert hung_up is not None
    raise hung_up


def _first_greeting(host: str, port: int, options: ConnectionOptions) -> int | None:
    """Return the version for the first ApiVersions request; None if the broker is too old for this request."""
    if options.api_version is not None and options.api_version < CAN_BE_ASKED_SINCE:
        return None
    if options.api_version is not None and options.api_version < _MODERN_SINCE:
        return 0
    return _greetings.get((host, port), _GREETING)


async def _open(
    new_connection: Callable[[], Connection],
    options: ConnectionOptions,
    security: SecurityOptions,
    greeting: int | None,
) -> Connection:
    connection = new_connection()
    await connection.connect(security)
    try:
        if greeting is None:
            release = options.api_version or ()
            connection.api_versions = ApiVersions.of_release(release, connection.described_as)
        else:
            asking = _negotiate(connection, options, security, greeting)
            look = look_whether_foreign if security.uses_sasl else look_whether_old
            address = (connection.host, connection.port)
            asking = unless_old(asking, address, lambda: look(new_connection(), security))
            connection.api_versions = await asking
        if security.uses_sasl:
            await SaslSession(connection, security, options.socket_connection_setup_timeout_ms).begin()
    except BaseException as error:
        why = error if isinstance(error, KafkaError) else KafkaConnectionError(f"the setup was abandoned: {error!r}")
        connection.abort(why)
        raise
    connection.finish_setup()
    return connection


async def _negotiate(
    connection: Connection, options: ConnectionOptions, security: SecurityOptions, greeting: int
) -> ApiVersions:
    try:
        response = await _ask(connection, options, greeting)
        if response.error_code == _UNSUPPORTED_VERSION and greeting > 0:
            # KIP-511: the error response contains the versions that the broker supports.
            offered = [key.max_version for key in response.api_keys if key.api_key == ApiVersionsRequest.API_KEY]
            response = await _ask(connection, options, min(greeting, *offered) if offered else 0)
    except KafkaConnectionError as error:
        if connection.received_anything or isinstance(error, TlsRefusedError):
            raise
        raise _HungUp(f"{error.args[0]}, on the first request; {_likely_causes(security)}") from in_brief(error)
    check_error(response.error_code, f"ApiVersions at {connection.described_as}")
    ranges = {key.api_key: (key.min_version, key.max_version) for key in response.api_keys}
    features = {each.name: each.max_version_level for each in response.finalized_features}
    return ApiVersions(ranges, connection.described_as, features, response.finalized_features_epoch)


def _likely_causes(security: SecurityOptions) -> str:
    old = "a broker before 0.10 (set its version as 'api_version')"
    if security.uses_tls:
        return (
            "so does a listener that requires a client certificate (set 'ssl_certfile' or 'ssl_keystore_location'), "
            f"and {old}"
        )
    return f"so does a TLS listener (security_protocol is {security.security_protocol!r}), and {old}"


async def _ask(connection: Connection, options: ConnectionOptions, version: int) -> ApiVersionsResponse:
    request = ApiVersionsRequest()
    if version >= _GREETING:
        request = ApiVersionsRequest(
            client_software_name="kafka-columnar", client_software_version=DISTRIBUTION_VERSION
        )
    return await connection.send(request, version, options.socket_connection_setup_timeout_ms)
