"""Configurations: describe and alter them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from kafka.admin.admin_requests import AdminRequests, own_error_code, raise_first
from kafka.admin.arguments import as_text
from kafka.admin.config_resource import (
    AlterConfigOp,
    ConfigFilterType,
    ConfigResource,
    ConfigResourceType,
    ConfigSourceType,
)
from kafka.admin.enums import answered_member
from kafka.admin.results import AlterConfigsResult, DescribeConfigsResult, DescribedConfigs
from kafka.admin.routing import Outcome, Route, Routed, ask_each, values_or_raise
from kafka.config.option import nearest
from kafka.errors import (
    BrokerResponseError,
    IllegalArgumentError,
    InvalidRequestError,
    KafkaError,
    UnsupportedVersionError,
)
from kafka.wire import Request
from kafka.wire.api import alter_configs as replacing
from kafka.wire.api import incremental_alter_configs as incremental_api
from kafka.wire.api.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from kafka.wire.api.list_config_resources import ListConfigResourcesRequest

ANY_BROKER = -1


class ConfigKey(NamedTuple):
    """Identifies a resource with a configuration by type and name."""

    resource_type: int
    resource_name: str

    def __str__(self) -> str:
        return f"{answered_member(ConfigResourceType, self.resource_type).name.lower()} {self.resource_name!r}"


def keyed(resources: Iterable[ConfigResource]) -> dict[ConfigKey, ConfigResource]:
    """Return resources by their keys.

    A resource that is named twice is described once, with all its requested settings. Raises `IllegalArgumentError`
    if a resource to alter is named twice.
    """
    found: dict[ConfigKey, ConfigResource] = {}
    for each in resources:
        key = ConfigKey(each.resource_type, each.name)
        before = found.setdefault(key, each)
        if before is each:
            continue
        if isinstance(each.configs, Mapping) or isinstance(before.configs, Mapping):
            raise IllegalArgumentError(f"config_resources: expected {key} once, got it twice")
        names = None if before.configs is None or each.configs is None else [*before.configs, *each.configs]
        found[key] = ConfigResource(each.resource_type, each.name, names)
    return found


class ConfigRoute(Route[ConfigKey]):
    """Routes a broker's settings to that broker, and all other resources to `ANY_BROKER`."""

    def __init__(self, resources: Mapping[ConfigKey, ConfigResource]) -> None:
        super().__init__(ANY_BROKER)
        self._resources = resources

    async def find(self, keys: Sequence[ConfigKey]) -> Routed[ConfigKey]:
        """See `Route`."""
        routed = Routed[ConfigKey]()
        for key in keys:
            broker_id = self._resources[key].broker_id
            routed.add(ANY_BROKER if broker_id is None else broker_id, key)
        return routed


async def send(requests: AdminRequests, broker_id: int, request: Request[Any], min_version: int = 0) -> Any:
    """Send a request to a broker that `ConfigRoute` selected."""
    if broker_id == ANY_BROKER:
        return await requests.cluster.send_any(request, min_version=min_version)
    return await requests.cluster.send(broker_id, request, min_version=min_version)


_RELEASES = {
    ConfigResourceType.BROKER_LOGGER: "2.4",
    ConfigResourceType.CLIENT_METRICS: "3.7 with KRaft",
    ConfigResourceType.GROUP: "4.0",
}
"""The Kafka releases that introduced types of resources; older brokers omit these resources, or reject the request."""
_KINDS_SINCE = 1
_DOCUMENTATION_SINCE = 3


def _code(error: KafkaError) -> int:
    return error.errno if isinstance(error, BrokerResponseError) else -1


async def describe_configs(
    requests: AdminRequests,
    resources: list[ConfigResource],
    include_synonyms: bool = False,
    shown: ConfigFilterType = ConfigFilterType.MODIFIED,
    include_documentation: bool = False,
    raise_errors: bool = True,
) -> DescribedConfigs:
    """See `KafkaAdminClient.describe_configs`."""
    wanted = keyed(resources)
    throttle_ms: dict[int | None, int] = {}

    async def ask(broker_id: int, keys: list[ConfigKey]) -> list[Outcome]:
        request = DescribeConfigsRequest(
            resources=[
                DescribeConfigsResource(
                    resource_type=key.resource_type,
                    resource_name=key.resource_name,
                    configuration_keys=_names(wanted[key]),
                )
                for key in keys
            ],
            include_synonyms=include_synonyms,
            include_documentation=include_documentation,
        )
        least = _DOCUMENTATION_SINCE if include_documentation else int(include_synonyms)
        response = await send(requests, broker_id, request, least)
        throttle_ms[None if broker_id == ANY_BROKER else broker_id] = response.throttle_time_ms
        told = {ConfigKey(each.resource_type, each.resource_name): each for each in response.results}
        return [_outcome(key, told.get(key)) for key in keys if key in told or key.resource_type in _RELEASES]

    found = await ask_each(requests, "configuration of", wanted, ConfigRoute(wanted), ask)
    values_or_raise(found, raise_errors)
    by_broker: dict[int | None, list[dict[str, Any]]] = {}
    for key, told in found.items():
        result = _undescribed(key, told) if isinstance(told, KafkaError) else told
        by_broker.setdefault(wanted[key].broker_id, []).append(result)
    results = DescribedConfigs(shown)
    for node_id, some in by_broker.items():
        results.append(DescribeConfigsResult(throttle_time_ms=throttle_ms.get(node_id, 0), results=some))
    return results


def _outcome(key: ConfigKey, told: Any) -> Outcome:
    """Return a broker's result; `told` is None if the broker omitted a resource of a type that it may not know."""
    code = InvalidRequestError.errno if told is None else told.error_code
    is_unknown = told is None or not told.error_message or "resource type" in told.error_message.lower()
    if code == InvalidRequestError.errno and is_unknown and key.resource_type in _RELEASES:
        release = _RELEASES[ConfigResourceType(key.resource_type)]
        text = f"the broker does not support this type of resource, which requires Kafka {release}"
        return Outcome(key, UnsupportedVersionError.errno, text, None)
    return Outcome(key, code, told.error_message, _described(told))


def _names(resource: ConfigResource) -> list[str] | None:
    return None if resource.configs is None else list(resource.configs)


def _undescribed(key: ConfigKey, error: KafkaError) -> dict[str, Any]:
    return {
        "error_code": _code(error),
        "error_message": str(error),
        "resource_type": key.resource_type,
        "resource_name": key.resource_name,
        "configs": [],
    }


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
                "config_source": _source(each, result.resource_type),
                "is_sensitive": each.is_sensitive,
                "synonyms": [{"name": s.name, "value": s.value, "source": s.source} for s in each.synonyms],
                "config_type": each.config_type,
                "documentation": each.documentation,
            }
            for each in result.configs
        ],
    }


def _source(config: Any, resource_type: int) -> int:
    """Return the source of a value. Brokers before 1.1 report only whether it is a default."""
    if config.config_source >= 0:
        return int(config.config_source)
    if config.is_default:
        return ConfigSourceType.DEFAULT_CONFIG
    if config.read_only and resource_type == ConfigResourceType.BROKER:
        return ConfigSourceType.STATIC_BROKER_CONFIG
    return ConfigSourceType.dynamic_for_resource_type(answered_member(ConfigResourceType, resource_type))


async def list_config_resources(requests: AdminRequests, kinds: list[ConfigResourceType]) -> dict[str, list[str]]:
    """See `KafkaAdminClient.list_config_resources`."""
    only_metrics = kinds == [ConfigResourceType.CLIENT_METRICS]
    request = ListConfigResourcesRequest(resource_types=[] if only_metrics else list(kinds))
    if only_metrics:
        response = await requests.any_broker(request, max_version=_KINDS_SINCE - 1, error_codes=own_error_code)
    else:
        response = await requests.any_broker(
            request, min_version=_KINDS_SINCE if kinds else 0, error_codes=own_error_code
        )
    raise_first([("listing configuration resources", response.error_code, None)])
    found: dict[str, list[str]] = {}
    for each in response.config_resources:
        kind = answered_member(ConfigResourceType, each.resource_type)
        found.setdefault(kind.name.lower(), []).append(each.resource_name)
    return found


async def check_known(requests: AdminRequests, resources: list[ConfigResource]) -> None:
    """Raise `IllegalArgumentError` for settings that a resource does not have, or that cannot be altered."""
    asked = [ConfigResource(each.resource_type, each.name) for each in resources]
    described = await describe_configs(requests, asked, shown=ConfigFilterType.DYNAMIC)
    for each in resources:
        known = set(described.of(each))
        if unknown := set(each.configs or ()) - known:
            told = ", ".join(f"{name}{nearest(name, sorted(known))}" for name in sorted(unknown))
            raise IllegalArgumentError(f"{each.described_as}: no settings that can be altered: {told}")


async def reset_configs(
    requests: AdminRequests,
    resources: list[ConfigResource],
    validate_only: bool,
    incremental: bool,
    raise_errors: bool = True,
) -> AlterConfigsResult:
    """See `KafkaAdminClient.reset_configs`."""
    asked = [ConfigResource(each.resource_type, each.name) for each in resources]
    described = await describe_configs(requests, asked)
    changes = []
    for each in resources:
        modified = {name: config["value"] for name, config in described.of(each).items()}
        names = set(each.configs or modified)
        if incremental:
            left: dict[str, Any] = dict.fromkeys(sorted(names))
        else:
            left = {name: value for name, value in modified.items() if name not in names and value is not None}
        changes.append(ConfigResource(each.resource_type, each.name, left))
    return await alter_configs(requests, changes, validate_only, incremental, raise_errors)


async def alter_configs(
    requests: AdminRequests,
    resources: list[ConfigResource],
    validate_only: bool,
    incremental: bool,
    raise_errors: bool = True,
) -> AlterConfigsResult:
    """See `KafkaAdminClient.alter_configs`."""
    make = _incremental_request if incremental else _replacing_request
    wanted = keyed(resources)
    throttle_ms = [0]
    make(resources, validate_only)  # fails on invalid arguments before anything is sent

    async def ask(broker_id: int, keys: list[ConfigKey]) -> list[Outcome]:
        response = await send(requests, broker_id, make([wanted[key] for key in keys], validate_only))
        throttle_ms.append(response.throttle_time_ms)
        return [
            Outcome(
                ConfigKey(each.resource_type, each.resource_name),
                each.error_code,
                each.error_message,
                {
                    "error_code": each.error_code,
                    "error_message": each.error_message,
                    "resource_type": each.resource_type,
                    "resource_name": each.resource_name,
                },
            )
            for each in response.responses
        ]

    found = await ask_each(requests, "configuration of", wanted, ConfigRoute(wanted), ask)
    values_or_raise(found, raise_errors)
    answers: list[dict[str, Any]] = []
    for key, told in found.items():
        if isinstance(told, KafkaError):
            answers.append({name: value for name, value in _undescribed(key, told).items() if name != "configs"})
        else:
            answers.append(told)
    return AlterConfigsResult(max(throttle_ms), answers)


def _pairs(resource: ConfigResource) -> Mapping[str, Any]:
    if not isinstance(resource.configs, Mapping):
        raise IllegalArgumentError(f"{resource.described_as}: altering needs a dict of names and values as configs")
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
        return AlterConfigOp.build_from(operation), value
    except ValueError:
        raise IllegalArgumentError(
            f"{name}: expected a pair of an AlterConfigOp and a value, got {change!r:.80}"
        ) from None


def _change(name: str, value: Any) -> incremental_api.AlterableConfig:
    operation = AlterConfigOp.DELETE if value is None else AlterConfigOp.SET
    if isinstance(value, tuple):
        operation, value = _operation(name, value)
        value = None if operation == AlterConfigOp.DELETE else value
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
