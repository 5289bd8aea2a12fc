"""aiokafka's errors: those of `kafka.errors`, which are also available under aiokafka's names where these differ."""

from kafka.consumer.fetch.response_handler import RecordTooLargeError as RecordTooLargeError
from kafka.errors import *  # noqa: F403  # a whole tree under its own names
from kafka.errors import (
    ConcurrentTransactionsError,
    DelegationTokenAuthDisabledError,
    DelegationTokenAuthorizationFailedError,
    DelegationTokenExpiredError,
    DelegationTokenNotFoundError,
    DelegationTokenOwnerMismatchError,
    DelegationTokenRequestNotAllowedError,
    DuplicateSequenceNumberError,
    FetchSessionIdNotFoundError,
    GroupIdNotFoundError,
    InvalidFetchSessionEpochError,
    InvalidPrincipalTypeError,
    InvalidProducerEpochError,
    InvalidProducerIdMappingError,
    InvalidTransactionTimeoutError,
    InvalidTxnStateError,
    KafkaConnectionError,
    KafkaError,
    ListenerNotFoundError,
    LogDirNotFoundError,
    MemberIdRequiredError,
    NoBrokersAvailable,
    NonEmptyGroupError,
    OperationNotAttemptedError,
    OutOfOrderSequenceNumberError,
    ProducerFencedError,
    ReassignmentInProgressError,
    SaslAuthenticationFailedError,
    SecurityDisabledError,
    TransactionalIdAuthorizationFailedError,
    TransactionCoordinatorFencedError,
    UnknownProducerIdError,
)


class ConsumerStoppedError(Exception):
    """The consumer is stopped, and returns no more records."""


class IllegalOperation(Exception):
    """The client's options do not allow this call, such as a commit without a group."""


class ProducerClosed(KafkaError):
    """The producer is stopped, and accepts no more records."""


class BootstrapError(NoBrokersAvailable, KafkaConnectionError):
    """`start()` could not connect to a broker. This is both a `NoBrokersAvailable` and a `KafkaConnectionError`."""


ConcurrentTransactions = ConcurrentTransactionsError
DelegationTokenAuthDisabled = DelegationTokenAuthDisabledError
DelegationTokenAuthorizationFailed = DelegationTokenAuthorizationFailedError
DelegationTokenExpired = DelegationTokenExpiredError
DelegationTokenNotFound = DelegationTokenNotFoundError
DelegationTokenOwnerMismatch = DelegationTokenOwnerMismatchError
DelegationTokenRequestNotAllowed = DelegationTokenRequestNotAllowedError
DuplicateSequenceNumber = DuplicateSequenceNumberError
FetchSessionIdNotFound = FetchSessionIdNotFoundError
GroupIdNotFound = GroupIdNotFoundError
InvalidFetchSessionEpoch = InvalidFetchSessionEpochError
InvalidPrincipalType = InvalidPrincipalTypeError
InvalidProducerEpoch = InvalidProducerEpochError
InvalidProducerIdMapping = InvalidProducerIdMappingError
InvalidTransactionTimeout = InvalidTransactionTimeoutError
InvalidTxnState = InvalidTxnStateError
ListenerNotFound = ListenerNotFoundError
LogDirNotFound = LogDirNotFoundError
MemberIdRequired = MemberIdRequiredError
NonEmptyGroup = NonEmptyGroupError
OperationNotAttempted = OperationNotAttemptedError
OutOfOrderSequenceNumber = OutOfOrderSequenceNumberError
ProducerFenced = ProducerFencedError
ReassignmentInProgress = ReassignmentInProgressError
SaslAuthenticationFailed = SaslAuthenticationFailedError
SecurityDisabled = SecurityDisabledError
TransactionCoordinatorFenced = TransactionCoordinatorFencedError
TransactionalIdAuthorizationFailed = TransactionalIdAuthorizationFailedError
UnknownProducerId = UnknownProducerIdError
