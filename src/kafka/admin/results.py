"""Results of admin calls, which programs for kafka-python 2.x and for 3.0 can use alike.

As in 3.0 a result is a dict with the response's fields in snake case. As in 2.x the fields are attributes too, and so
are the lists of tuples that the response objects of 2.x had.
"""

from typing import Any


class Result(dict[str, Any]):
    """A response as a dict; ``result.key`` is ``result["key"]``."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no {name!r}; it has {', '.join(self)}") from None


class CreateTopicsResult(Result):
    """What `create_topics` and `create_partitions` give: per topic its name, error code and message, …"""

    @property
    def topic_errors(self) -> list[tuple[str, int, str | None]]:
        """Topic, error code and error message of each."""
        return [(each["name"], each["error_code"], each["error_message"]) for each in self["topics"]]


class DeleteTopicsResult(Result):
    """What `delete_topics` gives: per topic its name, error code and message."""

    @property
    def topic_error_codes(self) -> list[tuple[str, int]]:
        """Topic and error code of each."""
        return [(each["name"], each["error_code"]) for each in self["topics"]]


class AlterConfigsResult(Result):
    """What `alter_configs` gives: per resource its type, name, error code and message."""

    @property
    def resources(self) -> list[tuple[int, str | None, int, str]]:
        """Error code, error message, resource type and resource name of each."""
        names = ("error_code", "error_message", "resource_type", "resource_name")
        return [tuple(each[name] for name in names) for each in self["responses"]]


ConfigEntry = tuple[str, str | None, bool, int, bool, list[tuple[str, str | None, int]]]


class DescribeConfigsResult(Result):
    """What `describe_configs` gives: per resource its type, name, and settings."""

    @property
    def resources(self) -> list[tuple[int, str | None, int, str, list[ConfigEntry]]]:
        """Error code, error message, type, name and settings of each resource.

        A setting is its name, value, whether it is read only, its source, whether it is sensitive, and its synonyms.
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
