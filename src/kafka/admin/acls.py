"""Access control lists (KIP-140, KIP-290): describe, create and delete them."""

import functools
from collections.abc import Iterable, Iterator
from enum import IntEnum
from typing import Any

from kafka.admin.admin_requests import AdminRequests, own_error_code, raise_first
from kafka.admin.enums import answered_member
from kafka.errors import BrokerResponseError, IllegalArgumentError, KafkaProtocolError, NoError, for_code
from kafka.wire.api.create_acls import AclCreation, CreateAclsRequest
from kafka.wire.api.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from kafka.wire.api.describe_acls import DescribeAclsRequest


class ResourceType(IntEnum):
    """The type of the resource that an ACL protects. ANY is valid only in filters."""

    UNKNOWN = 0
    """A type that this client does not know."""
    ANY = 1
    """Every type."""
    TOPIC = 2
    """A topic."""
    GROUP = 3
    """A group."""
    CLUSTER = 4
    """The cluster."""
    TRANSACTIONAL_ID = 5
    """The ``transactional_id`` of producers."""
    DELEGATION_TOKEN = 6
    """A delegation token."""
    USER = 7
    """A user, whose delegation tokens others may create or describe (KIP-373)."""


class ACLOperation(IntEnum):
    """The operation that an ACL allows or denies. ANY is valid only in filters."""

    UNKNOWN = 0
    """An operation that this client does not know."""
    ANY = 1
    """Every operation."""
    ALL = 2
    """All operations."""
    READ = 3
    """Read records, or commit a group's offsets."""
    WRITE = 4
    """Write records."""
    CREATE = 5
    """Create topics."""
    DELETE = 6
    """Delete topics, groups or records."""
    ALTER = 7
    """Alter the resource, such as its partitions or ACLs."""
    DESCRIBE = 8
    """Describe the resource."""
    CLUSTER_ACTION = 9
    """Act as a broker of the cluster."""
    DESCRIBE_CONFIGS = 10
    """Describe the settings of the resource."""
    ALTER_CONFIGS = 11
    """Alter the settings of the resource."""
    IDEMPOTENT_WRITE = 12
    """Write as an idempotent producer; Kafka 2.8 and later need only `WRITE`."""
    CREATE_TOKENS = 13
    """Create delegation tokens for the user (KIP-373)."""
    DESCRIBE_TOKENS = 14
    """Describe the user's delegation tokens (KIP-373)."""
    TWO_PHASE_COMMIT = 15
    """Prepare transactions for two-phase commits (KIP-939)."""


def valid_acl_operations(int_vals: Iterable[int]) -> set[ACLOperation]:
    """Return the operations with these numbers, except UNKNOWN, ANY, ALL and numbers that this client does not know."""
    found = {answered_member(ACLOperation, number) for number in int_vals}
    return found - {ACLOperation.UNKNOWN, ACLOperation.ANY, ACLOperation.ALL}


class ACLPermissionType(IntEnum):
    """Whether an ACL allows or denies the operation. ANY is valid only in filters."""

    UNKNOWN = 0
    """A permission that this client does not know."""
    ANY = 1
    """Both permissions."""
    DENY = 2
    """The operation is denied, even if another ACL allows it."""
    ALLOW = 3
    """The operation is allowed."""


class ACLResourcePatternType(IntEnum):
    """How a pattern matches resource names (KIP-290). ANY and MATCH are valid only in filters."""

    UNKNOWN = 0
    """A value that this client does not know."""
    ANY = 1
    """Patterns of every type."""
    MATCH = 2
    """Patterns of every type that apply to a resource with the filter's name."""
    LITERAL = 3
    """The name of one resource, or "*" for all."""
    PREFIXED = 4
    """The beginning of the names of resources."""


def _check(what: str, cls: type, given: object) -> None:
    if not isinstance(given, cls):
        raise IllegalArgumentError(f"{what}: expected a {cls.__name__}, got {given!r:.80}")


class ResourcePatternFilter:
    """Selects resource patterns. If ``resource_name`` is None, any name matches.

    Arguments:
        resource_type: type of the resources; ``ANY`` matches all types.
        pattern_type: ``LITERAL``, ``PREFIXED``, ``ANY``, or ``MATCH`` for all patterns that match the resource name.
    """

    def __init__(
        self, resource_type: ResourceType, resource_name: str | None, pattern_type: ACLResourcePatternType
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.pattern_type = pattern_type
        self.validate()

    def validate(self) -> None:
        """Check the types of the values. Raises `IllegalArgumentError` for a wrong one; the constructor calls this."""
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
    """The resources that an ACL applies to.

    Arguments:
        resource_type: type of the resources.
        resource_name: their name, or with ``PREFIXED`` the prefix of their names.
        pattern_type: ``LITERAL`` or ``PREFIXED``.
    """

    def __init__(
        self,
        resource_type: ResourceType,
        resource_name: str,
        pattern_type: ACLResourcePatternType = ACLResourcePatternType.LITERAL,
    ) -> None:
        super().__init__(resource_type, resource_name, pattern_type)

    def validate(self) -> None:
        """Check the values; the constructor calls this.

        Raises `IllegalArgumentError` for a value of the wrong type, and for one that is valid only in filters.
        """
        super().validate()
        if self.resource_type == ResourceType.ANY:
            raise IllegalArgumentError("resource_type: ANY is valid only in filters")
        if self.pattern_type in (ACLResourcePatternType.ANY, ACLResourcePatternType.MATCH):
            raise IllegalArgumentError(f"pattern_type: {self.pattern_type.name} is valid only in filters")


class ACLFilter:
    """Selects ACLs. If ``principal`` or ``host`` is None, any value matches.

    Arguments:
        operation: the operation; ``ANY`` matches all operations.
        permission_type: whether the ACL allows or denies the operation; ``ANY`` matches both.
        resource_pattern: selects the resources, as a `ResourcePatternFilter`.
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
        """Check the types of the values. Raises `IllegalArgumentError` for a wrong one; the constructor calls this."""
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
    """Allows or denies an operation on resources to a principal that connects from a host.

    Arguments:
        principal: the principal, such as "User:alice".
        host: the address from which the client connects, or "*" for any address.
        operation: the operation.
        permission_type: whether the operation is allowed or denied.
        resource_pattern: the resources.
    """

    def validate(self) -> None:
        """Check the values; the constructor calls this.

        Raises `IllegalArgumentError` for a value of the wrong type, and for one that is valid only in filters.
        """
        super().validate()
        if self.operation == ACLOperation.ANY:
            raise IllegalArgumentError("operation: ANY is valid only in filters")
        if self.permission_type == ACLPermissionType.ANY:
            raise IllegalArgumentError("permission_type: ANY is valid only in filters")
        _check("resource_pattern", ResourcePattern, self.resource_pattern)


def operation_names(bits: int) -> list[str] | None:
    """Return the names of the ACL operations in a bit field; None if the broker did not send the bit field."""
    return None if bits < 0 else list(_operation_names(bits))


@functools.lru_cache(maxsize=256)  # of thousands of topics, all have the same few bit fields
def _operation_names(bits: int) -> tuple[str, ...]:
    return tuple(operation.name for operation in ACLOperation if bits >> operation & 1)


_PATTERNS_SINCE = 1
_USERS_SINCE = 3

ErrorClass = type[BrokerResponseError]


class MatchedACL(ACL):
    """An ACL that was matched by a filter in `delete_acls`.

    As in kafka-python 3.0, it is the ACL itself. As in 2.x, it can be unpacked as a pair of the ACL and an error class.

    Attributes:
        error: `NoError` if the ACL was deleted, otherwise the error class.
    """

    error: ErrorClass = NoError

    def __iter__(self) -> Iterator[Any]:
        return iter((self, self.error))

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> Any:
        return (self, self.error)[index]


async def describe_acls(requests: AdminRequests, acl_filter: ACLFilter) -> tuple[list[ACL], ErrorClass]:
    """See `KafkaAdminClient.describe_acls`."""
    request = DescribeAclsRequest(**_filter_fields(acl_filter))
    response = await requests.any_broker(request, min_version=_version(acl_filter), error_codes=own_error_code)
    raise_first([("describing ACLs", response.error_code, response.error_message)])
    return [_acl(ACL, resource, each) for resource in response.resources for each in resource.acls], NoError


async def create_acls(requests: AdminRequests, acls: list[ACL]) -> dict[str, list[Any]]:
    """See `KafkaAdminClient.create_acls`."""
    creations = [
        AclCreation(
            resource_type=each.resource_pattern.resource_type,
            resource_name=each.resource_pattern.resource_name or "",
            resource_pattern_type=each.resource_pattern.pattern_type,
            principal=each.principal or "",
            host=each.host or "",
            operation=each.operation,
            permission_type=each.permission_type,
        )
        for each in acls
    ]
    version = max(map(_version, acls), default=0)
    response = await requests.any_broker(CreateAclsRequest(creations=creations), min_version=version)
    _check_count("ACLs", acls, response.results)
    succeeded, failed = [], []
    for acl, result in zip(acls, response.results, strict=True):
        if result.error_code:
            failed.append((acl, for_code(result.error_code)))
        else:
            succeeded.append(acl)
    return {"succeeded": succeeded, "failed": failed}


async def delete_acls(
    requests: AdminRequests, filters: list[ACLFilter]
) -> list[tuple[ACLFilter, list[MatchedACL], ErrorClass]]:
    """See `KafkaAdminClient.delete_acls`."""
    request = DeleteAclsRequest(filters=[DeleteAclsFilter(**_filter_fields(each)) for each in filters])
    response = await requests.any_broker(request, min_version=max(map(_version, filters), default=0))
    _check_count("filters", filters, response.filter_results)
    return [
        (acl_filter, [_matched(each) for each in result.matching_acls], for_code(result.error_code))
        for acl_filter, result in zip(filters, response.filter_results, strict=True)
    ]


def _version(acl: ACLFilter) -> int:
    """Return the lowest version of the ACL requests that can express this filter."""
    if acl.resource_pattern.resource_type == ResourceType.USER:
        return _USERS_SINCE
    return 0 if acl.resource_pattern.pattern_type == ACLResourcePatternType.LITERAL else _PATTERNS_SINCE


def _filter_fields(acl: ACLFilter) -> dict[str, Any]:
    return {
        "resource_type_filter": acl.resource_pattern.resource_type,
        "resource_name_filter": acl.resource_pattern.resource_name,
        "pattern_type_filter": acl.resource_pattern.pattern_type,
        "principal_filter": acl.principal,
        "host_filter": acl.host,
        "operation": acl.operation,
        "permission_type": acl.permission_type,
    }


def _acl(cls: Any, resource: Any, each: Any) -> Any:
    pattern = ResourcePattern(
        answered_member(ResourceType, resource.resource_type),
        resource.resource_name,
        answered_member(ACLResourcePatternType, resource.pattern_type),
    )
    operation = answered_member(ACLOperation, each.operation)
    permission = answered_member(ACLPermissionType, each.permission_type)
    return cls(each.principal, each.host, operation, permission, pattern)


def _matched(each: Any) -> MatchedACL:
    acl: MatchedACL = _acl(MatchedACL, each, each)
    acl.error = for_code(each.error_code)
    return acl


def _check_count(what: str, asked: list[Any], answered: list[Any]) -> None:
    if len(asked) != len(answered):
        raise KafkaProtocolError(f"the broker answered for {len(answered)} {what}, but {len(asked)} were requested")
