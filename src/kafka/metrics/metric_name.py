"""`MetricName`: what a metric is called, and what it is about."""

from __future__ import annotations

from collections.abc import Mapping


class MetricName:
    """The key of a metric: its name, group and tags. The description is no part of the key.

    Arguments:
        name: of the metric.
        group: of metrics that belong together.
        description: for people.
        tags: what it is about, such as a topic or a client.

    Raises `ValueError` for an empty name or group, and for tags that are no dict.
    """

    __slots__ = ("_description", "_group", "_hash", "_name", "_tags")

    def __init__(
        self, name: str, group: str, description: str | None = None, tags: Mapping[str, str] | None = None
    ) -> None:
        if not name or not group:
            raise ValueError(f"a metric needs a name and a group, not {name!r} and {group!r}")
        if tags is not None and not isinstance(tags, dict):
            raise ValueError(f"tags are a dict, not {tags!r}")
        self._name, self._group, self._description = name, group, description
        self._tags = None if tags is None else dict(tags)
        self._hash: int | None = None

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    @property
    def group(self) -> str:
        """The group."""
        return self._group

    @property
    def description(self) -> str | None:
        """The description."""
        return self._description

    @property
    def tags(self) -> dict[str, str] | None:
        """A copy of the tags."""
        return None if self._tags is None else dict(self._tags)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MetricName):
            return NotImplemented
        return (self._name, self._group, self._tags) == (other._name, other._group, other._tags)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash((self._group, self._name, frozenset((self._tags or {}).items())))
        return self._hash

    def __str__(self) -> str:
        return f"MetricName(name={self.name}, group={self.group}, description={self.description}, tags={self.tags})"

    __repr__ = __str__
