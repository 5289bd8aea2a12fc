"""What kinds of settings there are, and where their values come from."""

from enum import IntEnum
from typing import Any

from kafka.admin.config_resource import ConfigResourceType
from kafka.admin.enum_names import EnumHelper, answered_member


class ConfigType(EnumHelper, IntEnum):
    """The types of values."""

    UNKNOWN = 0
    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


class ConfigSourceType(EnumHelper, IntEnum):
    """Where a value was set."""

    UNKNOWN = 0
    DYNAMIC_TOPIC_CONFIG = 1
    DYNAMIC_BROKER_CONFIG = 2
    DYNAMIC_DEFAULT_BROKER_CONFIG = 3
    STATIC_BROKER_CONFIG = 4
    DEFAULT_CONFIG = 5
    DYNAMIC_BROKER_LOGGER_CONFIG = 6
    DYNAMIC_CLIENT_METRICS_CONFIG = 7
    DYNAMIC_GROUP_CONFIG = 8

    @classmethod
    def dynamic_for_resource_type(cls, resource_type: ConfigResourceType) -> "ConfigSourceType":
        """Where a value that was set on such a resource itself comes from."""
        return _OWN[answered_member(ConfigResourceType, resource_type)]

    def is_modified(self) -> bool:
        """Whether the value was set on the resource itself."""
        return self not in (
            ConfigSourceType.DYNAMIC_DEFAULT_BROKER_CONFIG,
            ConfigSourceType.STATIC_BROKER_CONFIG,
            ConfigSourceType.DEFAULT_CONFIG,
        )


_OWN = {
    ConfigResourceType.UNKNOWN: ConfigSourceType.UNKNOWN,
    ConfigResourceType.TOPIC: ConfigSourceType.DYNAMIC_TOPIC_CONFIG,
    ConfigResourceType.BROKER: ConfigSourceType.DYNAMIC_BROKER_CONFIG,
    ConfigResourceType.BROKER_LOGGER: ConfigSourceType.DYNAMIC_BROKER_LOGGER_CONFIG,
    ConfigResourceType.CLIENT_METRICS: ConfigSourceType.DYNAMIC_CLIENT_METRICS_CONFIG,
    ConfigResourceType.GROUP: ConfigSourceType.DYNAMIC_GROUP_CONFIG,
}


class ConfigFilterType(EnumHelper, IntEnum):
    """Which settings are shown."""

    ALL = 0
    DYNAMIC = 1
    MODIFIED = 2
    DEFAULT = 3
    STATIC = 4

    def should_skip(self, config_source: ConfigSourceType) -> bool:
        """Whether a value that comes from there is left out."""
        if self is ConfigFilterType.MODIFIED:
            return not config_source.is_modified()
        if self is ConfigFilterType.DEFAULT:
            return config_source.is_modified()
        return self is ConfigFilterType.STATIC and config_source is not ConfigSourceType.STATIC_BROKER_CONFIG

    def shows(self, config: dict[str, Any]) -> bool:
        """Whether a setting, as `describe_configs` describes it, is shown."""
        if self is ConfigFilterType.DYNAMIC and config["read_only"]:
            return False
        return not self.should_skip(answered_member(ConfigSourceType, config["config_source"]))


def with_names(config: dict[str, Any]) -> dict[str, Any]:
    """A copy of the description of a setting that names what is told by number."""
    named = dict(config, config_source=answered_member(ConfigSourceType, config["config_source"]).name)
    if "config_type" in config:
        named["config_type"] = answered_member(ConfigType, config["config_type"]).name
    if "synonyms" in config:
        named["synonyms"] = [
            {**each, "source": answered_member(ConfigSourceType, each["source"]).name} for each in config["synonyms"]
        ]
    return named
