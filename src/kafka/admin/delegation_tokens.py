"""Delegation tokens (KIP-48): create, renew, expire and describe them."""

from typing import NamedTuple

from kafka.admin.admin_requests import AdminRequests, own_error_code, raise_first
from kafka.errors import IllegalArgumentError
from kafka.wire.api.create_delegation_token import CreatableRenewers, CreateDelegationTokenRequest
from kafka.wire.api.describe_delegation_token import DescribeDelegationTokenOwner, DescribeDelegationTokenRequest
from kafka.wire.api.expire_delegation_token import ExpireDelegationTokenRequest
from kafka.wire.api.renew_delegation_token import RenewDelegationTokenRequest

_OWNER_SINCE = 3


class DelegationToken(NamedTuple):
    """A token that authenticates with SCRAM: ``token_id`` is the user name, and ``hmac`` in base64 is the password.

    Arguments:
        issue_timestamp_ms: creation time.

    Attributes:
        owner: the principal that the token authenticates.
        requester: the principal that created the token; empty if the broker is older than Kafka 3.3.
        expiry_timestamp_ms: expiry time, unless the token is renewed.
        max_timestamp_ms: the time after which the token can no longer be renewed.
        renewers: principals that may renew the token, in addition to the owner; empty in a newly created token.

    Principals are strings such as "User:alice"; times are milliseconds since 1970.
    """

    token_id: str
    hmac: bytes
    owner: str
    requester: str
    issue_timestamp_ms: int
    expiry_timestamp_ms: int
    max_timestamp_ms: int
    renewers: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return (
            f"DelegationToken({self.token_id!r}, owner={self.owner!r}, expiry_timestamp_ms={self.expiry_timestamp_ms})"
        )


def principal(what: str, given: object) -> tuple[str, str]:
    """Split a principal, such as "User:alice", into type and name."""
    kind, colon, name = given.partition(":") if isinstance(given, str) else ("", "", "")
    if not (kind and colon and name):
        raise IllegalArgumentError(f"{what}: expected a principal such as 'User:alice', got {given!r:.80}")
    return kind, name


def _shown(kind: str, name: str) -> str:
    return f"{kind}:{name}" if name else ""


async def create_delegation_token(
    requests: AdminRequests,
    renewers: list[tuple[str, str]],
    max_lifetime_ms: int,
    owner: tuple[str, str] | None,
    timeout_ms: int | None,
) -> DelegationToken:
    """See `KafkaAdminClient.create_delegation_token`."""
    request = CreateDelegationTokenRequest(
        renewers=[CreatableRenewers(principal_type=kind, principal_name=name) for kind, name in renewers],
        max_lifetime_ms=max_lifetime_ms,
    )
    if owner is not None:
        request.owner_principal_type, request.owner_principal_name = owner
    least = 0 if owner is None else _OWNER_SINCE
    answer = await requests.any_broker(request, min_version=least, repeatable=False, timeout_ms=timeout_ms)
    raise_first([("creating a delegation token", answer.error_code, None)])
    return DelegationToken(
        answer.token_id,
        answer.hmac,
        _shown(answer.principal_type, answer.principal_name),
        _shown(answer.token_requester_principal_type, answer.token_requester_principal_name),
        answer.issue_timestamp_ms,
        answer.expiry_timestamp_ms,
        answer.max_timestamp_ms,
        tuple(_shown(*each) for each in renewers),
    )


async def renew_delegation_token(
    requests: AdminRequests, hmac: bytes, renew_period_ms: int, timeout_ms: int | None
) -> int:
    """See `KafkaAdminClient.renew_delegation_token`."""
    request = RenewDelegationTokenRequest(hmac=hmac, renew_period_ms=renew_period_ms)
    answer = await requests.any_broker(request, error_codes=own_error_code, timeout_ms=timeout_ms)
    raise_first([("renewing a delegation token", answer.error_code, None)])
    return int(answer.expiry_timestamp_ms)


async def expire_delegation_token(
    requests: AdminRequests, hmac: bytes, expiry_period_ms: int, timeout_ms: int | None
) -> int:
    """See `KafkaAdminClient.expire_delegation_token`."""
    request = ExpireDelegationTokenRequest(hmac=hmac, expiry_time_period_ms=expiry_period_ms)
    answer = await requests.any_broker(request, repeatable=False, timeout_ms=timeout_ms)
    raise_first([("expiring a delegation token", answer.error_code, None)])
    return int(answer.expiry_timestamp_ms)


async def describe_delegation_tokens(
    requests: AdminRequests, owners: list[tuple[str, str]] | None, timeout_ms: int | None
) -> list[DelegationToken]:
    """See `KafkaAdminClient.describe_delegation_tokens`."""
    wanted = None
    if owners is not None:
        wanted = [DescribeDelegationTokenOwner(principal_type=kind, principal_name=name) for kind, name in owners]
    request = DescribeDelegationTokenRequest(owners=wanted)
    answer = await requests.any_broker(request, error_codes=own_error_code, timeout_ms=timeout_ms)
    raise_first([("describing delegation tokens", answer.error_code, None)])
    return [
        DelegationToken(
            each.token_id,
            each.hmac,
            _shown(each.principal_type, each.principal_name),
            _shown(each.token_requester_principal_type, each.token_requester_principal_name),
            each.issue_timestamp,
            each.expiry_timestamp,
            each.max_timestamp,
            tuple(_shown(one.principal_type, one.principal_name) for one in each.renewers),
        )
        for each in answer.tokens
    ]
