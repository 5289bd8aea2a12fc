"""Results of admin calls, compatible with kafka-python 2.x and 3.0.

As in 3.0, a result is a dict with the response's fields in snake case. As in 2.x, the fields are also attributes, and
results have the same lists of tuples as the response objects in 2.x. If 3.0 returns the response itself, its fields can
also be read by index.
"""

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar
from uuid import UUID

from kafka.admin.config_resource import ConfigFilterType, ConfigResource, ConfigResourceType, with_names
from kafka.admin.enums import answered_member
from kafka.errors import for_code
from kafka.wire import NO_UUID
from kafka.wire.structs import Struct


class Result(dict[str, Any]):
    """A response of a broker as a dict: its fields by their names in snake case.

    Each field is also an attribute: ``result.error_code`` is ``result["error_code"]``. Raises `AttributeError` for an
    attribute that is not a field.
    """

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no {name!r}; it has {', '.join(self.keys())}") from None


class Response(Result):
    """A response or a part of one, as returned by 3.0: its fields can also be read by index and unpacked.

    Iterating over it yields the values, not the names; ``items()``, ``keys()`` and `in` work as in a dict.
    """

    def __getitem__(self, key: Any) -> Any:
        return list(self.values())[key] if isinstance(key, int | slice) else super().__getitem__(key)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values())

    def __eq__(self, other: object) -> bool:
        """Return whether ``other`` is an equal dict, or a tuple of the same values."""
        return tuple(self.values()) == other if isinstance(other, tuple) else super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]  # as of every dict


def as_result(value: Any, kind: type[Result] = Result) -> Any:
    """Convert a message or a part of one to a `Result`, recursively. UUIDs become strings, or None for the zero UUID.

    Arguments:
        value: the message.
        kind: the class for its structs: `Result`, or `Response` if 3.0 returns the message itself.
    """
    if isinstance(value, Struct):
        return kind({field.name: as_result(getattr(value, field.name), kind) for field in value.FIELDS})
    if isinstance(value, list):
        return [as_result(each, kind) for each in value]
    return id_text(value) if isinstance(value, UUID) else value


def id_text(value: UUID) -> str | None:
    """Return an id as a string; None for the zero UUID."""
    return None if value == NO_UUID else str(value)


Names = tuple["str | tuple[str, Names]", ...]
"""Names of a response's fields in kafka-python 2.x. A list field is given with the field names of its elements."""

_TOPIC_ERROR: Names = ("topic", "error_code", "error_message")
_PARTITION_ERROR: Names = ("partition_id", "error_code", "error_message")
_RESOURCE: Names = ("error_code", "error_message", "resource_type", "resource_name")
_SYNONYM: Names = ("config_name", "config_value", "config_source")
_CONFIG: Names = (
    *("config_names", "config_value", "read_only", "config_source", "is_sensitive"),
    ("config_synonyms", _SYNONYM),
)


class NamedAsIn2X:
    """Base class of results that have kafka-python 2.x's lists of tuples, and can also be returned as nested dicts."""

    _names: ClassVar[Names]

    def to_object(self) -> dict[str, Any]:
        """Return the response as nested dicts and lists, with the names used by kafka-python 2.x and aiokafka."""
        names = ("throttle_time_ms", *self._names)
        return _named(names, [getattr(self, name if isinstance(name, str) else name[0]) for name in names])


def _named(names: Names, values: Iterable[Any]) -> dict[str, Any]:
    found = {}
    for name, value in zip(names, values, strict=True):
        if isinstance(name, str):
            found[name] = value
        else:
            found[name[0]] = [_named(name[1], each) for each in value]
    return found


class CreateTopicsResult(NamedAsIn2X, Result):
    """The result of `create_topics`: for each topic, its name, error code, error message and more."""

    _names = (("topic_errors", _TOPIC_ERROR),)

    @property
    def topic_errors(self) -> list[tuple[str, int, str | None]]:
        """The name, error code and error message of each topic."""
        return [(each["name"], each["error_code"], each["error_message"]) for each in self["topics"]]


class CreatePartitionsResult(Response, CreateTopicsResult):
    """The result of `create_partitions`: for each topic, its name, error code and error message."""


class TopicDescriptions(list[dict[str, Any]]):
    """The result of `describe_topics`: a dict for each topic."""

    def _repr_html_(self) -> str:
        """Return a table with one row per topic, for notebooks. For a single topic, also includes its partitions."""
        from kafka.display.html_tables import topics

        return topics(self)


class DeleteTopicsResult(NamedAsIn2X, Result):
    """The result of `delete_topics`: for each topic, its name, error code and error message."""

    _names = (("topic_error_codes", ("topic", "error_code")),)

    @property
    def topic_error_codes(self) -> list[tuple[str, int]]:
        """The name and error code of each topic."""
        return [(each["name"], each["error_code"]) for each in self["topics"]]


class AlterConfigsResult(NamedAsIn2X, dict[str, dict[str, str]]):
    """The result of `alter_configs`: "OK" or the error, by resource type (such as "topic") and name, as in 3.0.

    Attributes:
        responses: a dict of error code, error message, type and name for each resource.
        throttle_time_ms: how long the broker delayed the response.
    """

    _names = (("resources", _RESOURCE),)

    def __init__(self, throttle_time_ms: int, responses: list[dict[str, Any]]) -> None:
        super().__init__()
        self.throttle_time_ms = throttle_time_ms
        self.responses = responses
        for each in responses:
            code = each["error_code"]
            told = str(for_code(code)(each["error_message"])) if code else "OK"
            self.setdefault(_kind(each["resource_type"]), {})[each["resource_name"]] = told

    @property
    def resources(self) -> list[tuple[int, str | None, int, str]]:
        """The error code, error message, resource type and resource name of each resource, as in 2.x."""
        names = ("error_code", "error_message", "resource_type", "resource_name")
        return [tuple(each[name] for name in names) for each in self.responses]


def _kind(resource_type: int) -> str:
    return answered_member(ConfigResourceType, resource_type).name.lower()


ConfigEntry = tuple[str, str | None, bool, int, bool, list[tuple[str, str | None, int]]]


class DescribeConfigsResult(NamedAsIn2X, Result):
    """A response in the result of `describe_configs`: type, name and settings of each resource."""

    _names = (("resources", (*_RESOURCE, ("config_entries", _CONFIG))),)

    @property
    def resources(self) -> list[tuple[int, str | None, int, str, list[ConfigEntry]]]:
        """The error code, error message, type, name and settings of each resource.

        A setting is a tuple of its name, its value, whether it is read-only, its source, whether it is sensitive, and
        its synonyms.
        """
        return [
            (
                each["error_code"],
                each["error_message"],
                each["resource_type"],
                each["resource_name"],
                [_entry(config) for config in each["configs"]],
            )
            for each in self["results"]
        ]


def _entry(config: dict[str, Any]) -> ConfigEntry:
    synonyms = [(each["name"], each["value"], each["source"]) for each in config["synonyms"]]
    return (
        config["name"],
        config["value"],
        config["read_only"],
        config["config_source"],
        config["is_sensitive"],
        synonyms,
    )


class DescribedConfigs(list[DescribeConfigsResult]):
    """The result of `describe_configs`: a list of responses, as in 2.x, and a mapping by resource type, as in 3.0.

    ``result["topic"]["t"]["retention.ms"]["value"]`` works as in 3.0, for the settings that ``config_filter`` selects.
    """

    def __init__(self, shown: ConfigFilterType) -> None:
        super().__init__()
        self._shown = shown

    def _by_kind(self) -> dict[str, dict[str, dict[str, dict[str, Any]]]]:
        found: dict[str, dict[str, dict[str, dict[str, Any]]]] = {}
        for response in self:
            for each in response["results"]:
                shown = [with_names(config) for config in each["configs"] if self._shown.shows(config)]
                configs = {config.pop("name"): config for config in shown}
                found.setdefault(_kind(each["resource_type"]), {})[each["resource_name"]] = configs
        return found

    def of(self, resource: ConfigResource) -> dict[str, dict[str, Any]]:
        """Return the settings of one resource, by their names, that ``config_filter`` selects.

        Arguments:
            resource: one of those that were described.

        Raises `KeyError` for a resource that was not described.
        """
        return self._by_kind()[_kind(resource.resource_type)][resource.name]

    def __getitem__(self, key: Any) -> Any:
        return self._by_kind()[key] if isinstance(key, str) else super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        return key in self._by_kind() if isinstance(key, str) else super().__contains__(key)

    def get(self, key: str, default: Any = None) -> Any:
        """Return the settings of all resources of a type, by the resources' names.

        Arguments:
            key: the type in lower case, such as "topic".
            default: what to return if no resource of this type was described.
        """
        return self._by_kind().get(key, default)

    def keys(self) -> Any:
        """Return the types of the described resources, in lower case, such as "topic"."""
        return self._by_kind().keys()

    def values(self) -> Any:
        """Return, for each type of resource, the settings by the resources' names."""
        return self._by_kind().values()

    def items(self) -> Any:
        """Return pairs of a type of resource, such as "topic", and the settings by the resources' names."""
        return self._by_kind().items()


class ElectLeadersResult(NamedAsIn2X, Response):
    """The result of `elect_leaders` and `perform_leader_election`: the requested partitions by topic."""

    _names = ("error_code", ("replication_election_results", ("topic", ("partition_result", _PARTITION_ERROR))))

    @property
    def replication_election_results(self) -> list[tuple[str, list[tuple[int, int, str | None]]]]:
        """The topics, each with the number, error code and error message of its partitions."""
        names = ("partition_id", "error_code", "error_message")
        return [
            (topic["topic"], [tuple(each[name] for name in names) for each in topic["partition_result"]])
            for topic in self["replica_election_results"]
        ]


class LogDirsResult(list[dict[str, Any]]):
    """The result of `describe_log_dirs`: a dict with ``broker`` and ``log_dirs`` for each broker."""

    @property
    def log_dirs(self) -> list[tuple[int, str, list[tuple[str, list[tuple[int, int, int, bool]]]]]]:
        """The error code, path and topics of each directory on all brokers.

        A topic is a tuple of its name and partitions. A partition is a tuple of its number, its size in bytes, its lag
        in records, and whether it is moving to this directory.
        """
        return [
            (each["error_code"], each["log_dir"], [(topic["name"], _sizes(topic)) for topic in each["topics"]])
            for broker in self
            for each in broker["log_dirs"]
        ]


def _sizes(topic: dict[str, Any]) -> list[tuple[int, int, int, bool]]:
    names = ("partition_index", "partition_size", "offset_lag", "is_future_key")
    return [tuple(each[name] for name in names) for each in topic["partitions"]]
