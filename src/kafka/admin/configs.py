"""Configurations: describe and alter."""

from collections.abc import Iterable, Mapping
from typing import Any

from kafka.admin.arguments import as_text
from kafka.admin.config_resource import AlterConfigOp, ConfigResource, ConfigResourceType
from kafka.admin.requests import AdminRequests, check_answered, raise_first
from kafka.admin.results import AlterConfigsResult, DescribeConfigsResult
from kafka.errors import IllegalArgumentError
from kafka.wire.api import alter_configs as replacing
from kafka.wire.api import incremental_alter_configs as incremental_api
from kafka.wire.api.describe_configs import DescribeConfigsRequest, DescribeConfigsResource


def _by_broker(resources: Iterable[ConfigResource]) -> dict[int | None, list[ConfigResource]]:
    """Resources by the broker that has to be asked: a broker's own settings are known to itself only."""
    groups: dict[int | None, list[ConfigResource]] = {}
    for resource in resources:
        groups.setdefault(resource.broker_id, []).append(resource)
    return groups


def _shown(resource_type: int, name: str) -> str:
    kind = ConfigResourceType(resource_type).name.lower()
    return f"configuration of {kind} {name!r}"


async def describe_configs(
    requests: AdminRequests, resources: list[ConfigResource], include_synonyms: bool
) -> list[DescribeConfigsResult]:
    """See `KafkaAdminClient.describe_configs`."""
    results = []
    for node_id, group in _by_broker(resources).items():
        request = DescribeConfigsRequest(
            resources=[
                DescribeConfigsResource(
                    resource_type=each.resource_type,
                    resource_name=each.name,
                    configuration_keys=None if each.configs is None else list(each.configs),
                )
                for each in group
            ],
            include_synonyms=include_synonyms,
        )
        response = await requests.any_broker(request, node_id, min_version=int(include_synonyms))
        raise_first(
            [
                (_shown(each.resource_type, each.resource_name), each.error_code, each.error_message)
                for each in response.results
            ]
        )
        answered = ((each.resource_type, each.resource_name) for each in response.results)
        check_answered("resources", ((each.resource_type, each.name) for each in group), answered)
        results.append(
            DescribeConfigsResult(
                throttle_time_ms=response.throttle_time_ms, results=[_described(each) for each in response.results]
            )
        )
    return results


def _described(result: Any) -> dict[str, Any]:
    return {
        "error_code": result.error_code,
        "error_message": result.error_message,
        "resource_type": result.resource_type,
        "resource_name": result.resource_name,
        "configs": [
            {
                "name": each.name,
                "value": each.value,
                "read_only": each.read_only,
                "config_source": each.config_source,
                "is_sensitive": each.is_sensitive,
                "synonyms": [{"name": s.name, "value": s.value, "source": s.source} for s in each.synonyms],
                "config_type": each.config_type,
                "documentation": each.documentation,
            }
            for each in result.configs
        ],
    }


async def alter_configs(
    requests: AdminRequests, resources: list[ConfigResource], validate_only: bool, incremental: bool
) -> AlterConfigsResult:
    """See `KafkaAdminClient.alter_configs`."""
    make = _incremental_request if incremental else _replacing_request
    answers: list[dict[str, Any]] = []
    throttle_time_ms = 0
    for node_id, group in _by_broker(resources).items():
        response = await requests.any_broker(make(group, validate_only), node_id)
        throttle_time_ms = max(throttle_time_ms, response.throttle_time_ms)
        answers += [
            {
                "error_code": each.error_code,
                "error_message": each.error_message,
                "resource_type": each.resource_type,
                "resource_name": each.resource_name,
            }
            for each in response.responses
        ]
    raise_first(
        [
            (_shown(each["resource_type"], each["resource_name"]), each["error_code"], each["error_message"])
            for each in answers
        ]
    )
    check_answered(
        "resources",
        ((each.resource_type, each.name) for each in resources),
        ((each["resource_type"], each["resource_name"]) for each in answers),
    )
    return AlterConfigsResult(throttle_time_ms=throttle_time_ms, responses=answers)


def _pairs(resource: ConfigResource) -> Mapping[str, Any]:
    if not isinstance(resource.configs, Mapping):
        raise IllegalArgumentError(f"{resource!r}: altering needs a dict of names and values as configs")
    return resource.configs


def _replacing_request(resources: list[ConfigResource], validate_only: bool) -> replacing.AlterConfigsRequest:
    return replacing.AlterConfigsRequest(
        resources=[
            replacing.AlterConfigsResource(
                resource_type=each.resource_type,
                resource_name=each.name,
                configs=[replacing.AlterableConfig(name=k, value=as_text(v)) for k, v in _pairs(each).items()],
            )
            for each in resources
        ],
        validate_only=validate_only,
    )


def _operation(name: str, change: tuple[Any, ...]) -> tuple[AlterConfigOp, Any]:
    try:
        operation, value = change
        return AlterConfigOp(operation), value
    except ValueError:
        raise IllegalArgumentError(
            f"{name}: expected a pair of an AlterConfigOp and a value, got {change!r:.80}"
        ) from None


def _change(name: str, value: Any) -> incremental_api.AlterableConfig:
    operation = AlterConfigOp.DELETE if value is None else AlterConfigOp.SET
    if isinstance(value, tuple):
        operation, value = _operation(name, value)
    return incremental_api.AlterableConfig(name=name, config_operation=operation, value=as_text(value))


def _incremental_request(
    resources: list[ConfigResource], validate_only: bool
) -> incremental_api.IncrementalAlterConfigsRequest:
    return incremental_api.IncrementalAlterConfigsRequest(
        resources=[
            incremental_api.AlterConfigsResource(
                resource_type=each.resource_type,
                resource_name=each.name,
                configs=[_change(name, value) for name, value in _pairs(each).items()],
            )
            for each in resources
        ],
        validate_only=validate_only,
    )
