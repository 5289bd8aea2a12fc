"""What an error in the answer to a heartbeat means for the member (KIP-848)."""

import enum

from kafka.errors import (
    CoordinatorLoadInProgressError,
    CoordinatorNotAvailableError,
    FencedMemberEpochError,
    GroupAuthorizationFailedError,
    GroupIdNotFoundError,
    InvalidRegularExpressionError,
    KafkaError,
    NotCoordinatorError,
    TopicAuthorizationFailedError,
    UnknownMemberIdError,
    UnreleasedInstanceIdError,
    UnsupportedAssignorError,
    UnsupportedVersionError,
    for_code,
)
from kafka.wire.api.consumer_group_heartbeat import ConsumerGroupHeartbeatResponse

NEEDS = (
    "group_protocol='consumer' requires Apache Kafka 4.0 or later, with the feature group.version at 1; "
    "use group_protocol='classic' until the cluster is upgraded"
)
REGEX_NEEDS = (
    "a SubscriptionPattern is matched by brokers, from Apache Kafka 4.0; with older ones use subscribe(pattern='...') "
    "with a Python regular expression, which the client matches"
)


class Refusal(enum.Enum):
    """What to do."""

    TRY_AGAIN = "the coordinator is not ready"
    LOOK_FOR_COORDINATOR = "another broker is the coordinator"
    TELL_AND_TRY_AGAIN = "the caller must know, and it may pass"
    JOIN_AGAIN = "the membership is gone"
    GIVE_UP = "no repetition helps"


_MEANINGS = {
    CoordinatorLoadInProgressError.errno: Refusal.TRY_AGAIN,
    NotCoordinatorError.errno: Refusal.LOOK_FOR_COORDINATOR,
    CoordinatorNotAvailableError.errno: Refusal.LOOK_FOR_COORDINATOR,
    TopicAuthorizationFailedError.errno: Refusal.TELL_AND_TRY_AGAIN,
    FencedMemberEpochError.errno: Refusal.JOIN_AGAIN,
    UnknownMemberIdError.errno: Refusal.JOIN_AGAIN,
}

_HINTS = {
    UnsupportedVersionError.errno: NEEDS,
    UnsupportedAssignorError.errno: "group_remote_assignor names an assignor of the broker's: 'uniform' or 'range'",
    UnreleasedInstanceIdError.errno: (
        "another consumer has this group_instance_id: close it or wait for its session to expire, then create a new one"
    ),
    InvalidRegularExpressionError.errno: "the broker matches a SubscriptionPattern with RE2/J, whose syntax it has",
}


def meaning_of(error_code: int, is_member: bool) -> Refusal:
    """What to do after an error.

    Arguments:
        is_member: whether the heartbeat was a member's. A group that is gone has lost its members, and whoever joins
            makes it anew; one that refuses to be joined is of another type.
    """
    if is_member and error_code == GroupIdNotFoundError.errno:
        return Refusal.JOIN_AGAIN
    return _MEANINGS.get(error_code, Refusal.GIVE_UP)


def refusal(group_id: str, response: ConsumerGroupHeartbeatResponse) -> KafkaError:
    """The error for the caller."""
    kind = for_code(response.error_code)
    if kind is GroupAuthorizationFailedError:
        return kind(group_id)
    texts = [f"heartbeat of group {group_id!r}", response.error_message or "", _HINTS.get(response.error_code, "")]
    return kind(": ".join(text for text in texts if text))
