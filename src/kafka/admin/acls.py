"""ACLs: describe, create, delete."""

from collections.abc import Iterator
from typing import Any

from kafka.admin.acl_resource import (
    ACL,
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    ResourcePattern,
    ResourceType,
)
from kafka.admin.enum_names import answered_member
from kafka.admin.requests import AdminRequests, own_error_code, raise_first
from kafka.errors import BrokerResponseError, KafkaProtocolError, NoError, for_code
from kafka.wire.api.create_acls import AclCreation, CreateAclsRequest
from kafka.wire.api.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from kafka.wire.api.describe_acls import DescribeAclsRequest

_PATTERNS_SINCE = 1
_USERS_SINCE = 3

ErrorClass = type[BrokerResponseError]


class MatchedACL(ACL):
    """An ACL that a filter of `delete_acls` matched: the ACL as in 3.0, and as in 2.x a pair of it and an error class.

    Attributes:
        error: why it was not deleted, `NoError` if it was.
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
    """The first version of the requests that can say this."""
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
