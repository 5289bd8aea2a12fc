"""Client quotas (KIP-546): describe and alter them."""

from collections.abc import Mapping, Sequence
from typing import Any

from kafka.admin.admin_requests import AdminRequests, check_answered, own_error_code, raise_first
from kafka.errors import BrokerResponseError, for_code
from kafka.wire.api.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntryData,
    EntityData,
    OpData,
)
from kafka.wire.api.describe_client_quotas import ComponentData, DescribeClientQuotasRequest

Entity = Mapping[str, str | None]
"""Entity types ("user", "client-id", "ip") to names; None stands for the default of the type."""

_EXACT, _DEFAULT, _ANY = 0, 1, 2


async def describe_client_quotas(
    requests: AdminRequests, named: Entity, any_of: list[str], strict: bool
) -> list[dict[str, Any]]:
    """See `KafkaAdminClient.describe_client_quotas`."""
    components = [
        ComponentData(entity_type=kind, match_type=_DEFAULT if name is None else _EXACT, match=name)
        for kind, name in named.items()
    ]
    components += [ComponentData(entity_type=kind, match_type=_ANY, match=None) for kind in any_of]
    request = DescribeClientQuotasRequest(components=components, strict=strict)
    response = await requests.any_broker(request, error_codes=own_error_code)
    raise_first([("describing quotas", response.error_code, response.error_message)])
    return [
        {
            "entity": {part.entity_type: part.entity_name for part in entry.entity},
            "values": {each.key: each.value for each in entry.values},
        }
        for entry in response.entries or ()
    ]


async def alter_client_quotas(
    requests: AdminRequests, changes: Sequence[tuple[Entity, Mapping[str, float | None]]], validate_only: bool
) -> list[tuple[dict[str, str | None], type[BrokerResponseError]]]:
    """See `KafkaAdminClient.alter_client_quotas`."""
    entries = [
        AlterClientQuotasRequestEntryData(
            entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity.items()],
            ops=[OpData(key=key, value=value or 0.0, remove=value is None) for key, value in values.items()],
        )
        for entity, values in changes
    ]
    response = await requests.controller(
        AlterClientQuotasRequest(entries=entries, validate_only=validate_only),
        lambda response: [each.error_code for each in response.entries],
    )
    answers = {
        frozenset((part.entity_type, part.entity_name) for part in each.entity): for_code(each.error_code)
        for each in response.entries  # the response may contain the entries in any order
    }
    asked = [(dict(entity), frozenset(entity.items())) for entity, _ in changes]
    check_answered("entities", (key for _, key in asked), answers)
    return [(entity, answers[key]) for entity, key in asked]
