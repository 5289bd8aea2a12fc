"""kafka-python's import path of tuples and errors, from 0.9 to 1.4; today `kafka.structs` and `kafka.errors`."""

from kafka.errors import *  # noqa: F403
from kafka.errors import CoordinatorLoadInProgressError, CoordinatorNotAvailableError, NotCoordinatorError
from kafka.errors import UnknownTopicOrPartitionError as x  # noqa: F401, N813  # documented for 1.0
from kafka.legacy.payloads import *  # noqa: F403
from kafka.structs import OffsetAndMetadata as OffsetAndMetadata
from kafka.structs import OffsetAndTimestamp as OffsetAndTimestamp
from kafka.structs import RetryOptions as RetryOptions
from kafka.structs import TopicPartition as TopicPartition

# The names of 0.9.
OffsetsLoadInProgressCode = CoordinatorLoadInProgressError
ConsumerCoordinatorNotAvailableCode = CoordinatorNotAvailableError
NotCoordinatorForConsumerCode = NotCoordinatorError
