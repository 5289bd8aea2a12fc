"""FindCoordinator (key 10).

Versions served: 0 to 6; several keys at once from 4 on (KIP-699).
Behaviour: this broker coordinates every group.
Known gaps: there is no coordinator of transactions; asking for one is answered with an error that clients do not retry.
"""

from kafka.broker.codes import ErrorCode, RequestFailed
from kafka.broker.context import Broker, RequestContext
from kafka.wire.api.find_coordinator import Coordinator, FindCoordinatorRequest, FindCoordinatorResponse

_GROUP, _TRANSACTION = 0, 1
_BATCHED_SINCE = 4


def find_coordinator(
    broker: Broker, request: FindCoordinatorRequest, context: RequestContext
) -> FindCoordinatorResponse:
    """Answer with this broker."""
    error, text = _refusal(request.key_type)
    if request.key_type == _GROUP:
        try:
            broker.topics.create_consumer_offsets()
        except RequestFailed as failed:
            error, text = ErrorCode.COORDINATOR_NOT_AVAILABLE, str(failed)
    if error is ErrorCode.NONE:
        node_id, host, port = broker.settings.node_id, broker.endpoint.host, broker.endpoint.port
    else:
        node_id, host, port = -1, "", -1
    if context.version < _BATCHED_SINCE:
        return FindCoordinatorResponse(error_code=error, error_message=text, node_id=node_id, host=host, port=port)
    return FindCoordinatorResponse(
        coordinators=[
            Coordinator(key=key, node_id=node_id, host=host, port=port, error_code=error, error_message=text)
            for key in request.coordinator_keys
        ]
    )


def _refusal(key_type: int) -> tuple[ErrorCode, str | None]:
    if key_type == _GROUP:
        return ErrorCode.NONE, None
    if key_type == _TRANSACTION:
        return ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, "the embedded broker has no transactions"
    return ErrorCode.INVALID_REQUEST, f"the embedded broker has no coordinator of type {key_type}"
