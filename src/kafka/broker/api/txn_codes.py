"""The error codes of transactions, as each version of a request knows them."""

from collections.abc import Mapping
from typing import Final

from kafka.broker.codes import ErrorCode, RequestFailed

FENCED_BY_NAME_SINCE: Final[Mapping[str, int]] = {
    "InitProducerId": 4,
    "AddPartitionsToTxn": 2,
    "AddOffsetsToTxn": 2,
    "EndTxn": 2,
}
"""The versions of requests whose producers know PRODUCER_FENCED (KIP-588)."""

_E = ErrorCode
_NOT_READY: Final = frozenset({_E.CONCURRENT_TRANSACTIONS, _E.NOT_COORDINATOR})


def code_for(error: RequestFailed, knows_fenced: bool) -> ErrorCode:
    """The code of an error, for a client that knows PRODUCER_FENCED or one that does not."""
    return _E.INVALID_PRODUCER_EPOCH if error.code is _E.PRODUCER_FENCED and not knows_fenced else error.code


def refused_write(error: RequestFailed, version: int, abortable_since: int, retry: ErrorCode) -> RequestFailed:
    """The error for a write that the coordinator of its transaction does not allow.

    Clients know TRANSACTION_ABORTABLE from a version on, and from the next one on they add their partitions by writing
    (KIP-890). What is to be tried again is `retry` for others, which know no better.
    """
    if error.code is _E.PRODUCER_FENCED:
        return RequestFailed(_E.INVALID_PRODUCER_EPOCH, error.message)
    if error.code is _E.TRANSACTION_ABORTABLE and version < abortable_since:
        return RequestFailed(_E.INVALID_TXN_STATE, error.message)
    is_concurrent = error.code is _E.CONCURRENT_TRANSACTIONS
    if error.code in _NOT_READY and not (is_concurrent and version > abortable_since):
        return RequestFailed(retry, error.message)
    return error
