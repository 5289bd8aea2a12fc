"""FindCoordinator (key 10).

Versions served: 0 to 6; several keys at once from 4 on (KIP-699).
Behaviour: this broker coordinates every group, share groups included, and every transaction.
Known gaps: type 2, the coordinator of the state of share-partitions, is refused; only brokers request it.
"""

from kafka.broker.broker import Broker, RequestContext
from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.topics import CONSUMER_OFFSETS, TRANSACTION_STATE
from kafka.wire.api.find_coordinator import Coordinator, FindCoordinatorRequest, FindCoordinatorResponse

_KEPT_IN = {0: CONSUMER_OFFSETS, 1: TRANSACTION_STATE}
"""Internal topics by key type: groups, transactions."""
_BATCHED_SINCE = 4


def find_coordinator(
    broker: Broker, request: FindCoordinatorRequest, context: RequestContext
) -> FindCoordinatorResponse:
    """Return this broker."""
    error, text = ErrorCode.NONE, None
    kept_in = _KEPT_IN.get(request.key_type)
    if kept_in is None:
        error, text = ErrorCode.INVALID_REQUEST, f"the embedded broker has no coordinator of type {request.key_type}"
    else:
        try:
            broker.topics.create_internal(kept_in)
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
