"""InitProducerId (key 22).

Versions served: 0 to 5.
Behaviour: an idempotent producer gets a new id with epoch 0, also where it comes with the one it has: only producers
with a transactional id keep theirs (KIP-360).
Known gaps: no transactions; a transactional id is refused with TRANSACTIONAL_ID_AUTHORIZATION_FAILED, which clients
take for final.
"""

import logging

from kafka.broker.codes import ErrorCode
from kafka.broker.context import Broker, RequestContext
from kafka.wire.api.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

log = logging.getLogger(__name__)


def init_producer_id(broker: Broker, request: InitProducerIdRequest, context: RequestContext) -> InitProducerIdResponse:
    """Give out a producer id."""
    if request.transactional_id is not None:
        return InitProducerIdResponse(
            error_code=ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, producer_id=-1, producer_epoch=-1
        )
    try:
        return InitProducerIdResponse(producer_id=broker.identity.next_producer_id(), producer_epoch=0)
    except OSError:
        log.exception("no producer id could be reserved")
        return InitProducerIdResponse(error_code=ErrorCode.UNKNOWN_SERVER_ERROR, producer_id=-1, producer_epoch=-1)
