"""Groups: list and delete, whatever their kind."""

from collections.abc import Iterable, Sequence
from typing import Any

from kafka.admin.group_results import ListedGroup, ListedGroups
from kafka.admin.requests import AdminRequests
from kafka.admin.results import as_result
from kafka.admin.routing import EachBroker, Outcome, ask_each, asking, error_classes, group_route
from kafka.errors import KafkaError
from kafka.wire.api.delete_groups import DeleteGroupsRequest
from kafka.wire.api.list_groups import ListGroupsRequest

_STATES_SINCE = 4
_TYPES_SINCE = 5


async def list_groups(
    requests: AdminRequests,
    broker_ids: list[int] | None,
    states: Sequence[str] = (),
    types: Sequence[str] = (),
    protocol_types: Sequence[str] | None = None,
    raise_errors: bool = True,
) -> ListedGroups:
    """See `KafkaAdminClient.list_groups`."""
    version = _TYPES_SINCE if types else _STATES_SINCE if states else 0
    request = ListGroupsRequest(states_filter=list(states), types_filter=list(types))

    async def ask(node_id: int, _: list[int]) -> list[Outcome]:
        response = await requests.cluster.send(node_id, request, min_version=version)
        return [Outcome(node_id, response.error_code, None, as_result(response.groups))]

    nodes = await requests.broker_ids(broker_ids)
    answers = await ask_each(requests, "listing the groups of broker", nodes, EachBroker(), ask)
    errors = {node_id: answer for node_id, answer in answers.items() if isinstance(answer, KafkaError)}
    if errors and raise_errors:
        raise next(iter(errors.values()))
    found = {each["group_id"]: each for node_id in nodes if node_id not in errors for each in answers[node_id]}
    wanted = (each for each in found.values() if protocol_types is None or each["protocol_type"] in protocol_types)
    return ListedGroups(wanted, errors)


async def list_consumer_groups(requests: AdminRequests, broker_ids: list[int] | None) -> list[ListedGroup]:
    """See `KafkaAdminClient.list_consumer_groups`."""
    return [
        ListedGroup.of(each["group_id"], each["protocol_type"], each.get("group_state", ""))
        for each in await list_groups(requests, broker_ids)
    ]


async def delete_groups(
    requests: AdminRequests, group_ids: Iterable[str], node_id: int | None
) -> list[tuple[str, type[KafkaError]]]:
    """See `KafkaAdminClient.delete_consumer_groups`."""

    def read(response: Any) -> Iterable[Outcome]:
        return [Outcome(each.group_id, each.error_code, None, None) for each in response.results]

    def make(ids: list[str]) -> DeleteGroupsRequest:
        return DeleteGroupsRequest(groups_names=ids)

    route = group_route(requests, node_id)
    deleted = await ask_each(requests, "deleting group", group_ids, route, asking(requests, make, read))
    return list(error_classes(deleted).items())
