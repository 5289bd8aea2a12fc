"""ApiVersions (key 18).

Versions served: 0 to 4.
Behaviour: names every API of `kafka.broker.api.APIS` with the versions served. A version beyond these is answered with
UNSUPPORTED_VERSION in the layout of version 0, and with ApiVersions' own versions, so that the client can choose
(KIP-511); the connection does that, as it cannot read such a request.
Known gaps: no features are named, so no client tries the new group protocol, shares or transactions of version 2.
"""

from kafka.broker.api import APIS
from kafka.broker.codes import ErrorCode
from kafka.broker.context import Broker, RequestContext
from kafka.wire.api.api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse

_KEY = 18


def api_versions(broker: Broker, request: ApiVersionsRequest, context: RequestContext) -> ApiVersionsResponse:
    """Answer with what is served."""
    return response(ErrorCode.NONE)


def response(error: ErrorCode) -> ApiVersionsResponse:
    """The list of what is served; with an error only ApiVersions itself is in it."""
    served = APIS.values() if error is ErrorCode.NONE else [APIS[_KEY]]
    return ApiVersionsResponse(
        error_code=error,
        api_keys=[
            ApiVersion(api_key=api.key, min_version=api.min_version, max_version=api.max_version) for api in served
        ],
    )
