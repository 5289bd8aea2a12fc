"""kafka-python's import path of `ConsumerProtocol`, from 1.0 to 2.x."""

from kafka.legacy.coordinator.consumer_protocol import (
    ConsumerProtocol,
    ConsumerProtocol_v0,
    ConsumerProtocolMemberAssignment,
    ConsumerProtocolMemberAssignment_v0,
    ConsumerProtocolMemberMetadata,
    ConsumerProtocolMemberMetadata_v0,
)

__all__ = [
    "ConsumerProtocol",
    "ConsumerProtocolMemberAssignment",
    "ConsumerProtocolMemberAssignment_v0",
    "ConsumerProtocolMemberMetadata",
    "ConsumerProtocolMemberMetadata_v0",
    "ConsumerProtocol_v0",
]
