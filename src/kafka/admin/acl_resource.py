"""Access control lists: who may do what with which resource (KIP-140, KIP-290)."""

from collections.abc import Iterable
from enum import IntEnum
from typing import Any

from kafka.admin.enum_names import answered_member
from kafka.errors import IllegalArgumentError


class ResourceType(IntEnum):
    """What is protected; ANY is for filters alone."""

    UNKNOWN = 0
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7


class ACLOperation(IntEnum):
    """What is allowed or denied; ANY is for filters alone."""

    UNKNOWN = 0
    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14
    TWO_PHASE_COMMIT = 15


def valid_acl_operations(int_vals: Iterable[int]) -> set[ACLOperation]:
    """The operations of these numbers, but for UNKNOWN, ANY, ALL and what only a later Kafka has."""
    found = {answered_member(ACLOperation, number) for number in int_vals}
    return found - {ACLOperation.UNKNOWN, ACLOperation.ANY, ACLOperation.ALL}


class ACLPermissionType(IntEnum):
    """Whether it is allowed or denied; ANY is for filters alone."""

    UNKNOWN = 0
    ANY = 1
    DENY = 2
    ALLOW = 3


class ACLResourcePatternType(IntEnum):
    """How a resource's name is matched (KIP-290); ANY and MATCH are for filters alone."""

    UNKNOWN = 0
    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4


def _check(what: str, cls: type, given: object) -> None:
    if not isinstance(given, cls):
        raise IllegalArgumentError(f"{what}: expected a {cls.__name__}, got {given!r:.80}")


class ResourcePatternFilter:
    """Which resources are looked for; ``resource_name`` None is any name.

    Arguments:
        resource_type: their kind; ``ANY`` is any.
        pattern_type: ``LITERAL``, ``PREFIXED``, ``ANY``, or ``MATCH`` for all that are about a resource of the name.
    """

    def __init__(
        self, resource_type: ResourceType, resource_name: str | None, pattern_type: ACLResourcePatternType
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.pattern_type = pattern_type
        self.validate()

    def validate(self) -> None:
        """Raise `IllegalArgumentError` for what is of another type."""
        _check("resource_type", ResourceType, self.resource_type)
        _check("pattern_type", ACLResourcePatternType, self.pattern_type)

    def _key(self) -> tuple[Any, ...]:
        return (self.resource_type, self.resource_name, self.pattern_type)

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, ResourcePatternFilter) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"<{self.resource_type.name} {self.resource_name!r}, {self.pattern_type.name}>"


class ResourcePattern(ResourcePatternFilter):
    """The resources that an ACL is about.

    Arguments:
        resource_type: their kind.
        resource_name: the name, or with ``PREFIXED`` its beginning.
        pattern_type: ``LITERAL``, or ``PREFIXED``.
    """

    def __init__(
        self,
        resource_type: ResourceType,
        resource_name: str,
        pattern_type: ACLResourcePatternType = ACLResourcePatternType.LITERAL,
    ) -> None:
        super().__init__(resource_type, resource_name, pattern_type)

    def validate(self) -> None:
        """Raise `IllegalArgumentError` also for what is for filters alone."""
        super().validate()
        if self.resource_type == ResourceType.ANY:
            raise IllegalArgumentError("resource_type: ANY is for filters alone")
        if self.pattern_type in (ACLResourcePatternType.ANY, ACLResourcePatternType.MATCH):
            raise IllegalArgumentError(f"pattern_type: {self.pattern_type.name} is for filters alone")


class ACLFilter:
    """Which ACLs are looked for; ``principal`` and ``host`` None are any.

    Arguments:
        operation: what is done; ``ANY`` is any.
        permission_type: whether it is allowed or denied; ``ANY`` is either.
        resource_pattern: the resources, by a `ResourcePatternFilter`.
    """

    def __init__(
        self,
        principal: str | None,
        host: str | None,
        operation: ACLOperation,
        permission_type: ACLPermissionType,
        resource_pattern: ResourcePatternFilter,
    ) -> None:
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type
        self.resource_pattern = resource_pattern
        self.validate()

    def validate(self) -> None:
        """Raise `IllegalArgumentError` for what is of another type."""
        _check("operation", ACLOperation, self.operation)
        _check("permission_type", ACLPermissionType, self.permission_type)
        _check("resource_pattern", ResourcePatternFilter, self.resource_pattern)

    def _key(self) -> tuple[Any, ...]:
        return (self.principal, self.host, self.operation, self.permission_type, self.resource_pattern)

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, ACLFilter) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__} principal={self.principal}, resource={self.resource_pattern}, "
            f"operation={self.operation.name}, type={self.permission_type.name}, host={self.host}>"
        )


class ACL(ACLFilter):
    """That a principal, from a host, may or may not do something with some resources.

    Arguments:
        principal: such as "User:alice".
        host: the address the client connects from, or "*".
        operation: what is done.
        permission_type: whether it is allowed or denied.
        resource_pattern: with what: the resources.
    """

    def validate(self) -> None:
        """Raise `IllegalArgumentError` also for what is for filters alone."""
        super().validate()
        if self.operation == ACLOperation.ANY:
            raise IllegalArgumentError("operation: ANY is for filters alone")
        if self.permission_type == ACLPermissionType.ANY:
            raise IllegalArgumentError("permission_type: ANY is for filters alone")
        _check("resource_pattern", ResourcePattern, self.resource_pattern)
