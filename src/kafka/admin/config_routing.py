"""Which broker has to be asked about a configuration."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from kafka.admin.config_resource import ConfigResource, ConfigResourceType
from kafka.admin.enum_names import answered_member
from kafka.admin.requests import AdminRequests
from kafka.admin.routing import Route, Routed
from kafka.errors import IllegalArgumentError
from kafka.wire import Request

ANY_BROKER = -1


class ConfigKey(NamedTuple):
    """What has a configuration, by its kind and name."""

    resource_type: int
    resource_name: str

    def __str__(self) -> str:
        return f"{answered_member(ConfigResourceType, self.resource_type).name.lower()} {self.resource_name!r}"


def keyed(resources: Iterable[ConfigResource]) -> dict[ConfigKey, ConfigResource]:
    """Resources by their keys. One that is named twice is described once, with all its settings that were asked for.

    Raises `IllegalArgumentError` for one that is to be altered twice.
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
    """A broker's own settings are known to itself alone; others to any broker, for which `ANY_BROKER` stands."""

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
    """Send to a broker that `ConfigRoute` has found."""
    if broker_id == ANY_BROKER:
        return await requests.cluster.send_any(request, min_version=min_version)
    return await requests.cluster.send(broker_id, request, min_version=min_version)
