"""The error codes that the broker uses, the exception for failed requests, and the versions that support some codes.

The client errors (`kafka.errors`) have the same codes. The broker deliberately has its own list: a test compares the
two lists to detect wrong codes.
"""

from collections.abc import Mapping
from enum import IntEnum
from typing import Final

from kafka.errors import BrokerResponseError


class ErrorCode(IntEnum):
    """An error code of the protocol."""

    UNKNOWN_SERVER_ERROR = -1
    NONE = 0
    OFFSET_OUT_OF_RANGE = 1
    CORRUPT_MESSAGE = 2
    UNKNOWN_TOPIC_OR_PARTITION = 3
    MESSAGE_TOO_LARGE = 10
    OFFSET_METADATA_TOO_LARGE = 12
    COORDINATOR_NOT_AVAILABLE = 15
    NOT_COORDINATOR = 16
    INVALID_TOPIC_EXCEPTION = 17
    RECORD_LIST_TOO_LARGE = 18
    NOT_ENOUGH_REPLICAS = 19
    INVALID_REQUIRED_ACKS = 21
    ILLEGAL_GENERATION = 22
    INCONSISTENT_GROUP_PROTOCOL = 23
    INVALID_GROUP_ID = 24
    UNKNOWN_MEMBER_ID = 25
    INVALID_SESSION_TIMEOUT = 26
    REBALANCE_IN_PROGRESS = 27
    TOPIC_AUTHORIZATION_FAILED = 29
    INVALID_TIMESTAMP = 32
    UNSUPPORTED_SASL_MECHANISM = 33
    ILLEGAL_SASL_STATE = 34
    UNSUPPORTED_VERSION = 35
    TOPIC_ALREADY_EXISTS = 36
    INVALID_PARTITIONS = 37
    INVALID_REPLICATION_FACTOR = 38
    INVALID_REPLICA_ASSIGNMENT = 39
    INVALID_CONFIG = 40
    INVALID_REQUEST = 42
    OUT_OF_ORDER_SEQUENCE_NUMBER = 45
    INVALID_PRODUCER_EPOCH = 47
    INVALID_TXN_STATE = 48
    INVALID_PRODUCER_ID_MAPPING = 49
    INVALID_TRANSACTION_TIMEOUT = 50
    CONCURRENT_TRANSACTIONS = 51
    TRANSACTION_COORDINATOR_FENCED = 52
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53
    OPERATION_NOT_ATTEMPTED = 55
    KAFKA_STORAGE_ERROR = 56
    SASL_AUTHENTICATION_FAILED = 58
    NON_EMPTY_GROUP = 68
    GROUP_ID_NOT_FOUND = 69
    FETCH_SESSION_ID_NOT_FOUND = 70
    INVALID_FETCH_SESSION_EPOCH = 71
    FENCED_LEADER_EPOCH = 74
    UNKNOWN_LEADER_EPOCH = 75
    UNSUPPORTED_COMPRESSION_TYPE = 76
    MEMBER_ID_REQUIRED = 79
    GROUP_MAX_SIZE_REACHED = 81
    FENCED_INSTANCE_ID = 82
    GROUP_SUBSCRIBED_TO_TOPIC = 86
    INVALID_RECORD = 87
    UNSTABLE_OFFSET_COMMIT = 88
    THROTTLING_QUOTA_EXCEEDED = 89
    PRODUCER_FENCED = 90
    RESOURCE_NOT_FOUND = 91
    DUPLICATE_RESOURCE = 92
    UNACCEPTABLE_CREDENTIAL = 93
    UNKNOWN_TOPIC_ID = 100
    INCONSISTENT_TOPIC_ID = 103
    TRANSACTIONAL_ID_NOT_FOUND = 105
    FENCED_MEMBER_EPOCH = 110
    UNRELEASED_INSTANCE_ID = 111
    UNSUPPORTED_ASSIGNOR = 112
    STALE_MEMBER_EPOCH = 113
    MISMATCHED_ENDPOINT_TYPE = 114
    UNSUPPORTED_ENDPOINT_TYPE = 115
    UNKNOWN_SUBSCRIPTION_ID = 117
    TELEMETRY_TOO_LARGE = 118
    TRANSACTION_ABORTABLE = 120
    INVALID_RECORD_STATE = 121
    SHARE_SESSION_NOT_FOUND = 122
    INVALID_SHARE_SESSION_EPOCH = 123
    INVALID_REGULAR_EXPRESSION = 128
    SHARE_SESSION_LIMIT_REACHED = 133


class RequestFailed(Exception):
    """Raised if a request, or one of its entries, fails with an error code.

    Arguments:
        code: the error code.
        message: a message, for responses that have a field for it.
    """

    def __init__(self, code: ErrorCode, message: str | None = None) -> None:
        super().__init__(message or code.name)
        self.code = code
        self.message = message


class ConnectionFault(Exception):
    """Raised to close the connection: the client sent bytes that are not a request, or a request with acks=0 failed.

    The message is logged.
    """


def code_of(error: BaseException) -> int:
    """Return the error code for an exception raised while handling a request or one of its entries."""
    if isinstance(error, RequestFailed):
        return error.code
    if isinstance(error, OSError):
        return ErrorCode.KAFKA_STORAGE_ERROR
    known: int | None = error.errno if isinstance(error, BrokerResponseError) else None
    return ErrorCode.UNKNOWN_SERVER_ERROR if known is None else known


FENCED_BY_NAME_SINCE: Final[Mapping[str, int]] = {
    "InitProducerId": 4,
    "AddPartitionsToTxn": 2,
    "AddOffsetsToTxn": 2,
    "EndTxn": 2,
}
"""The first version of each request that supports PRODUCER_FENCED (KIP-588)."""

_E = ErrorCode
_NOT_READY: Final = frozenset({_E.CONCURRENT_TRANSACTIONS, _E.NOT_COORDINATOR})


def code_for(error: RequestFailed, knows_fenced: bool) -> ErrorCode:
    """Return an error's code; clients that do not know PRODUCER_FENCED get INVALID_PRODUCER_EPOCH."""
    return _E.INVALID_PRODUCER_EPOCH if error.code is _E.PRODUCER_FENCED and not knows_fenced else error.code


def refused_write(error: RequestFailed, version: int, abortable_since: int, retry: ErrorCode) -> RequestFailed:
    """Return the error for a write that the transaction coordinator rejects.

    Clients know TRANSACTION_ABORTABLE from version `abortable_since` on; from the next version on, a write adds its
    partition to the transaction (KIP-890). NOT_COORDINATOR is replaced with `retry`, and so is CONCURRENT_TRANSACTIONS
    in versions in which a write does not add its partition.
    """
    if error.code is _E.PRODUCER_FENCED:
        return RequestFailed(_E.INVALID_PRODUCER_EPOCH, error.message)
    if error.code is _E.TRANSACTION_ABORTABLE and version < abortable_since:
        return RequestFailed(_E.INVALID_TXN_STATE, error.message)
    is_concurrent = error.code is _E.CONCURRENT_TRANSACTIONS
    if error.code in _NOT_READY and not (is_concurrent and version > abortable_since):
        return RequestFailed(retry, error.message)
    return error
