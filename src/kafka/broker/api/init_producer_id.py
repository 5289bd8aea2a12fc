"""InitProducerId (key 22).

Versions served: 0 to 5.
Behaviour: an idempotent producer gets a new id with epoch 0, also where it comes with the one it has: only producers
with a transactional id keep theirs. Those get the next epoch, by which an earlier producer is fenced; its open
transaction is aborted first, and the answer is CONCURRENT_TRANSACTIONS. From version 3 on a producer may say what it
has, and recovers (KIP-360). When the epochs are used up, it gets another id.
Known gaps: no transactions in two phases (version 6, KIP-939).
"""

import logging

from kafka.broker.api.txn_codes import FENCED_BY_NAME_SINCE, code_for
from kafka.broker.codes import ErrorCode, RequestFailed
from kafka.broker.context import Broker, RequestContext
from kafka.wire.api.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

log = logging.getLogger(__name__)

_NONE = -1


def init_producer_id(broker: Broker, request: InitProducerIdRequest, context: RequestContext) -> InitProducerIdResponse:
    """Give out a producer id, or an epoch of the one that a transactional id has."""
    try:
        producer_id, epoch = _given(broker, request)
    except RequestFailed as error:
        code = code_for(error, context.version >= FENCED_BY_NAME_SINCE["InitProducerId"])
        return InitProducerIdResponse(error_code=code, producer_id=_NONE, producer_epoch=_NONE)
    return InitProducerIdResponse(producer_id=producer_id, producer_epoch=epoch)


def _given(broker: Broker, request: InitProducerIdRequest) -> tuple[int, int]:
    if (request.producer_id == _NONE) != (request.producer_epoch == _NONE):
        raise RequestFailed(ErrorCode.INVALID_REQUEST, "a producer has both an id and an epoch, or none")
    if request.transactional_id is not None:
        from kafka.broker.transactions.coordinator import Producer

        expected = None
        if request.producer_id != _NONE:
            expected = Producer(request.producer_id, request.producer_epoch)
        return broker.transactions.init_producer_id(request.transactional_id, request.transaction_timeout_ms, expected)
    try:
        return broker.identity.next_producer_id(), 0
    except OSError as error:
        log.exception("no producer id could be reserved")
        raise RequestFailed(ErrorCode.UNKNOWN_SERVER_ERROR) from error
