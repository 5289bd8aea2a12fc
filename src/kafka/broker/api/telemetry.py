"""GetTelemetrySubscriptions (key 71) and PushTelemetry (72): client metrics (KIP-714).

Versions served: 0.
Behaviour: served only with the setting `client_telemetry`, just as Kafka serves these APIs only if a plug-in receives
the metrics. A client gets the metrics requested by all matching subscriptions combined. Its pushes are validated and
stored for `EmbeddedBroker.pushed_metrics`. OpenTelemetry sums must have delta temporality.
Known gaps: the broker forgets a client when its connection closes, not after a timeout.
"""

from kafka.broker.broker import Broker, RequestContext
from kafka.broker.client_metrics import COMPRESSION, PushedMetrics
from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.wire import NO_UUID
from kafka.wire.api.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
)
from kafka.wire.api.push_telemetry import PushTelemetryRequest, PushTelemetryResponse


def get_telemetry_subscriptions(
    broker: Broker, request: GetTelemetrySubscriptionsRequest, context: RequestContext
) -> GetTelemetrySubscriptionsResponse:
    """Return the metrics that the matching subscriptions request from a client."""
    if not broker.settings.client_telemetry:
        return GetTelemetrySubscriptionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    known = None if request.client_instance_id == NO_UUID else request.client_instance_id
    try:
        instance_id, instance = broker.telemetry.subscribe(known, _client(broker, context), context.connection)
    except RequestFailed as error:
        return GetTelemetrySubscriptionsResponse(error_code=error.code)
    return GetTelemetrySubscriptionsResponse(
        client_instance_id=instance_id,
        subscription_id=instance.subscription_id,
        accepted_compression_types=list(COMPRESSION),
        push_interval_ms=instance.wanted.interval_ms,
        telemetry_max_bytes=broker.settings.telemetry_max_bytes,
        delta_temporality=True,
        requested_metrics=list(instance.wanted.prefixes),
    )


def push_telemetry(broker: Broker, request: PushTelemetryRequest, context: RequestContext) -> PushTelemetryResponse:
    """Store the metrics that a client pushes."""
    if not broker.settings.client_telemetry:
        return PushTelemetryResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    if request.client_instance_id == NO_UUID:
        return PushTelemetryResponse(error_code=ErrorCode.INVALID_REQUEST)
    push = PushedMetrics(
        context.client_id,
        request.client_instance_id,
        request.terminating,
        request.compression_type,
        bytes(request.metrics),
    )
    try:
        broker.telemetry.push(push, request.subscription_id, _client(broker, context), context.connection)
    except RequestFailed as error:
        return PushTelemetryResponse(error_code=error.code)
    return PushTelemetryResponse()


def _client(broker: Broker, context: RequestContext) -> dict[str, str]:
    """Return the client's properties for matching against subscriptions."""
    name, version = broker.software.get(context.connection, ("", ""))
    return {
        "client_id": context.client_id,
        "client_software_name": name,
        "client_software_version": version,
        "client_source_address": context.client_host,
        "client_source_port": str(context.client_port),
    }
