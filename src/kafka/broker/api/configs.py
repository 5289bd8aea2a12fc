"""DescribeConfigs (key 32), AlterConfigs (33), IncrementalAlterConfigs (44) and ListConfigResources (74).

Versions served: DescribeConfigs 0 to 4, AlterConfigs 0 to 2, IncrementalAlterConfigs 0 to 1, ListConfigResources 0 to
1.
Behaviour: topics have all of Kafka's topic configs. The broker validates and stores them; `kafka.broker.topic_configs`
describes which ones take effect. The broker's own settings are read-only. Group configs may be set before the group
exists; those of share groups take effect (`kafka.broker.group_configs`). A client metrics subscription (KIP-714) exists
if one of its configs is set (`kafka.broker.client_metrics`). ListConfigResources returns topics, the broker, groups
with configs, and client metrics subscriptions.
Known gaps: the broker's settings cannot be changed at run time; there are no other resources, such as loggers.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import NamedTuple

from kafka.broker.broker import Broker, RequestContext
from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.named_configs import NamedConfigs
from kafka.broker.topic_configs import TOPIC_OPTIONS, ConfigType, TopicOption, check_config, split_list
from kafka.broker.topic_store import Topic, TopicChanges, check_name
from kafka.wire.api.alter_configs import AlterConfigsRequest, AlterConfigsResourceResponse, AlterConfigsResponse
from kafka.wire.api.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from kafka.wire.api.incremental_alter_configs import (
    AlterConfigsResourceResponse as IncrementalResourceResponse,
)
from kafka.wire.api.incremental_alter_configs import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from kafka.wire.api.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)

_TOPIC, _BROKER, _BROKER_LOGGER, _CLIENT_METRICS, _GROUP = 2, 4, 8, 16, 32
_ALL_KINDS = (_TOPIC, _BROKER, _BROKER_LOGGER, _CLIENT_METRICS, _GROUP)
_KINDS_SINCE = 1
_OF_TOPIC, _OF_BROKER, _DEFAULT, _OF_CLIENT_METRICS, _OF_GROUP = 1, 4, 5, 7, 8
_NAMED = (_CLIENT_METRICS, _GROUP)
"""Resource types that can have configs before the resource exists."""
_SET, _DELETE, _APPEND, _SUBTRACT = 0, 1, 2, 3


Check = Callable[[str, str | None], str]
"""Validates a config value and returns it; raises `RequestFailed` if the value is invalid."""
Change = Callable[[Mapping[str, str], Mapping[str, TopicOption], Check], dict[str, str]]
"""Computes the new configs from the current ones, the known options, and a function that validates a config."""


class Entry(NamedTuple):
    """A config in a DescribeConfigs response."""

    name: str
    value: str
    source: int
    type: ConfigType
    doc: str
    synonyms: tuple[tuple[str, str, int], ...]
    read_only: bool = False


def describe_configs(
    broker: Broker, request: DescribeConfigsRequest, context: RequestContext
) -> DescribeConfigsResponse:
    """Return the configs of topics, the broker, groups and client metrics subscriptions."""
    results = []
    for asked in request.resources:
        result = DescribeConfigsResult(
            error_message=None, resource_type=asked.resource_type, resource_name=asked.resource_name
        )
        try:
            keys = asked.configuration_keys
            result.configs = [
                _described(one, request, context.version)
                for one in _entries(broker, asked)
                if not keys or one.name in keys
            ]
        except RequestFailed as error:
            result.error_code, result.error_message = error.code, str(error)
        results.append(result)
    return DescribeConfigsResponse(results=results)


def _described(entry: Entry, request: DescribeConfigsRequest, version: int) -> DescribeConfigsResourceResult:
    synonyms = entry.synonyms if request.include_synonyms else ()
    return DescribeConfigsResourceResult(
        name=entry.name,
        value=entry.value,
        read_only=entry.read_only,
        is_default=version == 0 and entry.source == _DEFAULT,  # later versions contain the source of a value instead
        config_source=entry.source,
        synonyms=[DescribeConfigsSynonym(name=name, value=value, source=source) for name, value, source in synonyms],
        config_type=entry.type,
        documentation=entry.doc if request.include_documentation else None,
    )


def _entries(broker: Broker, asked: DescribeConfigsResource) -> Iterable[Entry]:
    if asked.resource_type == _TOPIC:
        check_name(asked.resource_name)
        return _topic_entries(broker, broker.topics.get(asked.resource_name))
    if asked.resource_type in _NAMED:
        return _named_entries(broker, asked.resource_type, asked.resource_name)
    _check_broker(broker, asked.resource_type, asked.resource_name)
    return _broker_entries(broker)


def _check_broker(broker: Broker, resource_type: int, name: str) -> None:
    if resource_type != _BROKER:
        raise RequestFailed(
            ErrorCode.INVALID_REQUEST, f"the embedded broker has no configs of resource type {resource_type}"
        )
    if name not in ("", str(broker.settings.node_id)):
        raise RequestFailed(
            ErrorCode.INVALID_REQUEST, f"Unexpected broker id, expected {broker.settings.node_id}, but received {name}"
        )


def _topic_entries(broker: Broker, topic: Topic) -> Iterable[Entry]:
    defaults = broker.settings.topic_defaults
    for option in TOPIC_OPTIONS.values():
        synonyms = []
        if option.name in topic.configs:
            synonyms.append((option.name, topic.configs[option.name], _OF_TOPIC))
        if option.name in defaults:
            synonyms.append((option.name, defaults[option.name], _OF_BROKER))
        synonyms.append((option.name, option.default, _DEFAULT))
        _, value, source = synonyms[0]
        yield Entry(option.name, value, source, option.type, option.doc, tuple(synonyms))


def _named_entries(broker: Broker, resource_type: int, name: str) -> Iterable[Entry]:
    kept = _kept(broker, resource_type, name)
    configs = kept.of(name)
    if resource_type == _CLIENT_METRICS:  # Kafka returns only configs that are set
        for key, value in sorted(configs.items()):
            yield Entry(key, value, _OF_CLIENT_METRICS, kept.options[key].type, kept.options[key].doc, ())
        return
    for option in kept.options.values():
        synonyms = [(option.name, option.default, _DEFAULT)]
        if option.name in configs:
            synonyms.insert(0, (option.name, configs[option.name], _OF_GROUP))
        _, value, source = synonyms[0]
        yield Entry(option.name, value, source, option.type, option.doc, tuple(synonyms))


def _kept(broker: Broker, resource_type: int, name: str) -> NamedConfigs:
    """Return the stored configs of groups or client metrics subscriptions."""
    if not name:
        what = "Group name" if resource_type == _GROUP else "Client metrics subscription name"
        raise RequestFailed(ErrorCode.INVALID_REQUEST, f"{what} must not be empty")
    return broker.group_configs if resource_type == _GROUP else broker.client_metrics


def _broker_entries(broker: Broker) -> Iterable[Entry]:
    settings = broker.settings
    shown: dict[str, tuple[object, ConfigType]] = {
        "auto.create.topics.enable": (settings.auto_create_topics, ConfigType.BOOLEAN),
        "broker.id": (settings.node_id, ConfigType.INT),
        "default.replication.factor": (1, ConfigType.INT),
        "fetch.max.bytes": (settings.max_fetch_bytes, ConfigType.INT),
        "group.initial.rebalance.delay.ms": (settings.group_initial_rebalance_delay_ms, ConfigType.INT),
        "group.max.session.timeout.ms": (settings.group_max_session_timeout_ms, ConfigType.INT),
        "group.min.session.timeout.ms": (settings.group_min_session_timeout_ms, ConfigType.INT),
        "log.retention.check.interval.ms": (settings.retention_check_interval_ms, ConfigType.LONG),
        "node.id": (settings.node_id, ConfigType.INT),
        "num.partitions": (settings.num_partitions, ConfigType.INT),
        "offset.metadata.max.bytes": (settings.offset_metadata_max_bytes, ConfigType.INT),
        "socket.request.max.bytes": (settings.max_request_bytes, ConfigType.INT),
    }
    for name, (value, kind) in shown.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        yield Entry(name, text, _OF_BROKER, kind, "", ((name, text, _OF_BROKER),), read_only=True)


# -- altering ---------------------------------------------------------------------------------------------------------


def alter_configs(broker: Broker, request: AlterConfigsRequest, context: RequestContext) -> AlterConfigsResponse:
    """Replace all configs of each given topic, group and client metrics subscription."""
    responses = []
    for asked in request.resources:
        changed = {one.name: one.value for one in asked.configs}
        code, text = _altered(
            broker, asked.resource_type, asked.resource_name, request.validate_only, partial(_replaced, changed)
        )
        responses.append(
            AlterConfigsResourceResponse(
                error_code=code,
                error_message=text,
                resource_type=asked.resource_type,
                resource_name=asked.resource_name,
            )
        )
    return AlterConfigsResponse(responses=responses)


def incremental_alter_configs(
    broker: Broker, request: IncrementalAlterConfigsRequest, context: RequestContext
) -> IncrementalAlterConfigsResponse:
    """Change individual configs of topics, groups and client metrics subscriptions (KIP-339)."""
    responses = []
    for asked in request.resources:
        steps = [(one.name, one.config_operation, one.value) for one in asked.configs]
        code, text = _altered(
            broker,
            asked.resource_type,
            asked.resource_name,
            request.validate_only,
            partial(_stepped, steps),
        )
        responses.append(
            IncrementalResourceResponse(
                error_code=code,
                error_message=text,
                resource_type=asked.resource_type,
                resource_name=asked.resource_name,
            )
        )
    return IncrementalAlterConfigsResponse(responses=responses)


def _altered(
    broker: Broker,
    resource_type: int,
    name: str,
    validate_only: bool,
    change: Change,
) -> tuple[ErrorCode, str | None]:
    """Apply `change` to the configs of a topic, a group or a subscription; return the error code and message."""
    try:
        if resource_type in _NAMED:
            kept = _kept(broker, resource_type, name)
            configs = change(kept.of(name), kept.altered_as, kept.check)
            if not validate_only:
                kept.replace(name, configs)
            return ErrorCode.NONE, None
        if resource_type != _TOPIC:
            _check_broker(broker, resource_type, name)
            raise RequestFailed(
                ErrorCode.INVALID_REQUEST, "the embedded broker's own settings cannot be changed while it runs"
            )
        topic = broker.topics.get(name)
        configs = change(topic.configs, TOPIC_OPTIONS, check_config)
        if not validate_only:
            changes = TopicChanges()
            changes.changed[name] = topic.row._replace(configs=configs)
            broker.topics.apply(changes)
    except RequestFailed as error:
        return error.code, str(error)
    return ErrorCode.NONE, None


def _replaced(
    configs: dict[str, str | None], _: Mapping[str, str], options: Mapping[str, TopicOption], check: Check
) -> dict[str, str]:
    return {name: check(name, value) for name, value in configs.items()}


def _stepped(
    steps: list[tuple[str, int, str | None]],
    current: Mapping[str, str],
    options: Mapping[str, TopicOption],
    check: Check,
) -> dict[str, str]:
    configs: dict[str, str] = dict(current)
    for name, operation, value in steps:
        if operation == _DELETE:
            configs.pop(name, None)
            continue
        if value is None:
            raise RequestFailed(ErrorCode.INVALID_REQUEST, f"Null value not supported for : {name}")
        check(name, value)
        if operation == _SET:
            configs[name] = value
            continue
        option = options[name]
        if operation not in (_APPEND, _SUBTRACT) or option.type is not ConfigType.LIST:
            raise RequestFailed(
                ErrorCode.INVALID_CONFIG,
                f"operation {operation} cannot be applied to {name}: only configs of the type LIST support it",
            )
        entries, given = split_list(configs.get(name, option.default)), split_list(value)
        if operation == _APPEND:
            entries += [one for one in given if one not in entries]
        else:
            entries = [one for one in entries if one not in given]
        configs[name] = ",".join(entries)
    return configs


def list_config_resources(
    broker: Broker, request: ListConfigResourcesRequest, context: RequestContext
) -> ListConfigResourcesResponse:
    """List the resources that have configs (KIP-1142). Version 0 returns only client metrics subscriptions."""
    kinds = (_CLIENT_METRICS,) if context.version < _KINDS_SINCE else tuple(request.resource_types) or _ALL_KINDS
    if not set(kinds) <= set(_ALL_KINDS):
        return ListConfigResourcesResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    names = {
        _TOPIC: [topic.name for topic in broker.topics],
        _BROKER: [str(broker.settings.node_id)],
        _GROUP: broker.group_configs.names(),
        _CLIENT_METRICS: broker.client_metrics.names(),
    }
    return ListConfigResourcesResponse(
        config_resources=[
            ConfigResource(resource_name=name, resource_type=kind)
            for kind in dict.fromkeys(kinds)
            for name in names.get(kind, ())
        ]
    )
