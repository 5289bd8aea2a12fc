"""The operations that a client may do (KIP-430)."""

from kafka.admin.acl_resource import ACLOperation


def operation_names(bits: int) -> list[str] | None:
    """The names in a bit field of ACL operations; None where the broker did not say."""
    return None if bits < 0 else [operation.name for operation in ACLOperation if bits >> operation & 1]
