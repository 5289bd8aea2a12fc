"""InitProducerId (key 22).

Versions served: 0 to 5.
Behaviour: an idempotent producer gets a new id with epoch 0; one that comes with its id (KIP-360) gets the next epoch
of it, or a new id when the epochs are used up.
Known gaps: no transactions; a transactional id is refused with TRANSACTIONAL_ID_AUTHORIZATION_FAILED, which clients
take for final.
"""

from kafka.broker.codes import ErrorCode
from kafka.broker.context import Broker, RequestContext
from kafka.wire.api.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

_LAST_EPOCH = 32766


def init_producer_id(broker: Broker, request: InitProducerIdRequest, context: RequestContext) -> InitProducerIdResponse:
    """Give out a producer id."""
    if request.transactional_id is not None:
        return InitProducerIdResponse(
            error_code=ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, producer_id=-1, producer_epoch=-1
        )
    if request.producer_id >= 0 and 0 <= request.producer_epoch < _LAST_EPOCH:
        return InitProducerIdResponse(producer_id=request.producer_id, producer_epoch=request.producer_epoch + 1)
    return InitProducerIdResponse(producer_id=broker.identity.next_producer_id(), producer_epoch=0)
