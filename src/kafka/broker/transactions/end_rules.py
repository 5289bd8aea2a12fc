"""Whether a producer may end its transaction now, has done so before, or is fenced. Pure."""

from kafka.broker.codes import ErrorCode, RequestFailed
from kafka.broker.transactions.metadata import TransactionMetadata, is_last_epoch
from kafka.broker.transactions.state import TransactionState

_E = ErrorCode
_S = TransactionState


def check_end(known: TransactionMetadata, producer_id: int, epoch: int, committed: bool, version: int) -> bool:
    """True if there is a transaction to end, False if it has ended as is asked; raises `RequestFailed` else."""
    if version >= 2:
        return _check_version_2(known, producer_id, epoch, committed)
    if known.producer_id != producer_id:
        raise RequestFailed(_E.INVALID_PRODUCER_ID_MAPPING)
    if known.producer_epoch != epoch:
        raise RequestFailed(_E.PRODUCER_FENCED)
    if known.state is _S.ONGOING:
        return True
    return _check_ended(known, committed)


def _check_version_2(known: TransactionMetadata, producer_id: int, epoch: int, committed: bool) -> bool:
    """The epoch tells whether it is asked for the first time: it was counted up, or the producer id changed, then."""
    is_next_id = known.previous_producer_id == producer_id and is_last_epoch(epoch) and known.producer_epoch == 0
    is_repeated = is_next_id or known.producer_epoch == epoch + 1
    if known.producer_id != producer_id and not is_next_id:
        raise RequestFailed(_E.INVALID_PRODUCER_ID_MAPPING)
    if known.is_prepared:
        is_valid = known.producer_epoch == epoch + 1
    elif known.state in (_S.COMPLETE_COMMIT, _S.COMPLETE_ABORT):
        is_valid = is_repeated or known.producer_epoch == epoch
    else:
        is_valid = known.producer_epoch == epoch
    if not is_valid:
        raise RequestFailed(_E.PRODUCER_FENCED)
    if known.state is _S.ONGOING:
        return True
    if known.is_prepared or is_repeated:
        return _check_ended(known, committed)
    if committed:
        raise RequestFailed(_E.INVALID_TXN_STATE)
    # There is nothing to abort; the epoch is counted up all the same.
    return True


def _check_ended(known: TransactionMetadata, committed: bool) -> bool:
    """False if the latest transaction has ended as is asked."""
    if known.state is _S.EMPTY or committed != (known.state in (_S.COMPLETE_COMMIT, _S.PREPARE_COMMIT)):
        raise RequestFailed(_E.INVALID_TXN_STATE)
    if known.is_prepared:
        raise RequestFailed(_E.CONCURRENT_TRANSACTIONS)
    return False
