"""ApiVersions (key 18).

Versions served: 0 to 4.
Behaviour: returns every API in `kafka.broker.api.APIS` with its supported versions. If the version of the request is
not supported, the error response is UNSUPPORTED_VERSION in the version 0 format, along with the supported versions of
ApiVersions, so that the client can choose one (KIP-511). The connection sends this response, as it cannot decode such
a request. If the client's software name contains anything but letters, digits, dots and hyphens, the response is
INVALID_REQUEST, and the client may retry.
From version 3 on the response contains features: metadata.version, which identifies Kafka's release;
transaction.version, from which producers choose their protocol (setting `transaction_version`); group.version, which
announces the KIP-848 protocol; and share.version (setting `share_version`). The client metrics APIs are included only
with the setting `client_telemetry`.
Known gaps: no other features are returned.
"""

import re

from kafka.broker.api import APIS
from kafka.broker.broker import Broker, RequestContext
from kafka.broker.error_codes import ErrorCode
from kafka.wire.api.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)

_KEY = 18
_NAMED_SINCE = 3
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?")
_METADATA_VERSION = "metadata.version"
_OLDEST_METADATA, _METADATA = 7, 29
"""The metadata versions of Kafka 3.3-IV3 and 4.2-IV1."""
_TRANSACTIONS = "transaction.version"
_NEWEST_TRANSACTIONS = 2
_GROUPS = "group.version"
_SHARES = "share.version"
_NEWEST_SHARES = 1
_ZERO_SINCE = 4
_TELEMETRY = (71, 72)
_FEATURES_EPOCH = 0


def api_versions(broker: Broker, request: ApiVersionsRequest, context: RequestContext) -> ApiVersionsResponse:
    """Return the supported APIs and features."""
    names = request.client_software_name, request.client_software_version
    if context.version >= _NAMED_SINCE and not all(map(_NAME.fullmatch, names)):
        return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST)
    answer = response(ErrorCode.NONE)
    if context.connection is not None:
        broker.software[context.connection] = names
    if not broker.settings.client_telemetry:
        answer.api_keys = [api for api in answer.api_keys if api.api_key not in _TELEMETRY]
    level = broker.settings.transaction_version
    # Clients that use version 3 reject features whose minimum version is 0 (KAFKA-17492).
    oldest = 0 if context.version >= _ZERO_SINCE else 1
    answer.supported_features.append(
        SupportedFeatureKey(name=_TRANSACTIONS, min_version=oldest, max_version=_NEWEST_TRANSACTIONS)
    )
    answer.finalized_features.append(
        FinalizedFeatureKey(name=_TRANSACTIONS, min_version_level=level, max_version_level=level)
    )
    answer.supported_features.append(SupportedFeatureKey(name=_GROUPS, min_version=oldest, max_version=1))
    answer.finalized_features.append(FinalizedFeatureKey(name=_GROUPS, min_version_level=1, max_version_level=1))
    answer.supported_features.append(SupportedFeatureKey(name=_SHARES, min_version=oldest, max_version=_NEWEST_SHARES))
    if broker.settings.share_version:
        answer.finalized_features.append(
            FinalizedFeatureKey(name=_SHARES, min_version_level=1, max_version_level=broker.settings.share_version)
        )
    return answer


def response(error: ErrorCode) -> ApiVersionsResponse:
    """Return the response; an error response contains only ApiVersions itself."""
    served = APIS.values() if error is ErrorCode.NONE else [APIS[_KEY]]
    answer = ApiVersionsResponse(
        error_code=error,
        api_keys=[
            ApiVersion(api_key=api.key, min_version=api.min_version, max_version=api.max_version) for api in served
        ],
    )
    if error is ErrorCode.NONE:
        answer.supported_features = [
            SupportedFeatureKey(name=_METADATA_VERSION, min_version=_OLDEST_METADATA, max_version=_METADATA)
        ]
        answer.finalized_features = [
            FinalizedFeatureKey(name=_METADATA_VERSION, min_version_level=_METADATA, max_version_level=_METADATA)
        ]
        answer.finalized_features_epoch = _FEATURES_EPOCH
    return answer
