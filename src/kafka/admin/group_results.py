"""Results of admin calls about groups, which both idioms can read: the lists of 2.x, and names."""

from collections.abc import ItemsView, Iterable, KeysView, ValuesView
from typing import Any, NamedTuple, Self

from kafka.errors import KafkaError
from kafka.structs import GroupInformation


class _GroupAndType(NamedTuple):
    group: str
    protocol_type: str


class ListedGroup(_GroupAndType):
    """A group of a list: the pair of its id and its protocol type, with its state as an attribute.

    Attributes:
        state: such as "Stable"; empty where the broker is older than Kafka 2.6.
    """

    state: str = ""

    @classmethod
    def of(cls, group: str, protocol_type: str, state: str) -> Self:
        """Make one."""
        listed = cls(group, protocol_type)
        listed.state = state
        return listed


class ListedGroups(list[dict[str, Any]]):
    """What `list_groups` gives: a dict for each group.

    Attributes:
        errors: by broker, why it could not tell its groups.
    """

    def __init__(self, groups: Iterable[dict[str, Any]], errors: dict[int, KafkaError]) -> None:
        super().__init__(groups)
        self.errors = errors

    def _repr_html_(self) -> str:
        """What a notebook shows: a group a row."""
        from kafka.display.descriptions import groups

        return groups(self)


class DescribedGroups(list[GroupInformation]):
    """Descriptions in the order asked for; by id as in a dict too."""

    def _by_id(self) -> dict[str, GroupInformation]:
        return {each.group: each for each in self}

    def keys(self) -> KeysView[str]:
        """The ids."""
        return self._by_id().keys()

    def values(self) -> ValuesView[GroupInformation]:
        """The descriptions."""
        return self._by_id().values()

    def items(self) -> ItemsView[str, GroupInformation]:
        """Pairs of id and description."""
        return self._by_id().items()

    def __getitem__(self, at: Any) -> Any:
        return self._by_id()[at] if isinstance(at, str) else super().__getitem__(at)

    def _repr_html_(self) -> str:
        """What a notebook shows: a group a row."""
        from kafka.display.descriptions import groups

        return groups(self)


class GroupDescriptions(dict[str, dict[str, Any]]):
    """What `describe_groups`, and its likes for one kind of groups, give: a dict for each group id."""

    def _repr_html_(self) -> str:
        """What a notebook shows: a group a row."""
        from kafka.display.descriptions import groups

        return groups(self.values())
