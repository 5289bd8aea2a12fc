"""Checks whether one Protobuf schema can read values of another, by the rules of Confluent's schema registry.

Fields are compared by number, messages by name. Fields may be added and removed unless they are required; number types
with the same encoding may replace each other.
"""

from __future__ import annotations

from typing import Any, NamedTuple

_MESSAGES = (10, 11)
_FORMS = {
    "number": (3, 4, 5, 8, 13, 14),
    "signed number": (17, 18),
    "text or bytes": (9, 12),
    "fixed32": (7, 15),
    "fixed64": (6, 16),
    "float": (2,),
    "double": (1,),
}
"""Field types by encoding. Enums count as numbers."""
_FORM_OF = {type_: form for form, types in _FORMS.items() for type_ in types}


class Incompatibility(NamedTuple):
    """One reason why the new schema cannot read values of the old one.

    Attributes:
        kind: the incompatibility's name in Confluent's registry, such as FIELD_SCALAR_KIND_CHANGED.
        path: the position, such as ``#/Order/3`` for field 3 of a message.
    """

    kind: str
    path: str


def incompatibilities(old: Any, new: Any) -> list[Incompatibility]:
    """Return the reasons why a new schema cannot read values of an old one; empty if it can.

    Args:
        old: the `FileDescriptor` of the writer's schema.
        new: the `FileDescriptor` of the reader's schema.
    """
    comparison = _Comparison()
    if old.package != new.package:
        comparison.add("PACKAGE_CHANGED", "#/")
    comparison.messages(old.message_types_by_name, new.message_types_by_name, "#")
    return comparison.found


class _Comparison:
    def __init__(self) -> None:
        self.found: list[Incompatibility] = []
        self._seen: set[tuple[str, str]] = set()

    def add(self, kind: str, path: str) -> None:
        """Add a difference unless it is already listed."""
        if (made := Incompatibility(kind, path)) not in self.found:
            self.found.append(made)

    def messages(self, old: Any, new: Any, path: str) -> None:
        """Compare the messages in two files, or those nested in two messages, by name."""
        for name, before in old.items():
            if before.GetOptions().map_entry:
                continue
            if name not in new:
                self.add("MESSAGE_REMOVED", f"{path}/{name}")
            else:
                self._message(before, new[name], f"{path}/{name}")

    def _message(self, old: Any, new: Any, path: str) -> None:
        if (old.full_name, new.full_name) in self._seen:
            return
        self._seen.add((old.full_name, new.full_name))
        self._oneofs(old, new, path)
        before, after = old.fields_by_number, new.fields_by_number
        for number in sorted({*before, *after}):
            at = f"{path}/{number}"
            if number not in after:
                if before[number].is_required:
                    self.add("REQUIRED_FIELD_REMOVED", at)
            elif number not in before:
                if after[number].is_required:
                    self.add("REQUIRED_FIELD_ADDED", at)
            else:
                self._field(before[number], after[number], at)
        self.messages(old.nested_types_by_name, new.nested_types_by_name, path)

    def _oneofs(self, old: Any, new: Any, path: str) -> None:
        inside = {field.number: oneof.name for oneof in _oneofs(old) for field in oneof.fields}
        alone = set(old.fields_by_number) - set(inside)
        named = {oneof.name: oneof for oneof in _oneofs(old)}
        for oneof in _oneofs(new):
            numbers = {field.number for field in oneof.fields}
            moved = len(numbers & alone)
            if moved > 1:
                self.add("MULTIPLE_FIELDS_MOVED_TO_ONEOF", f"{path}/{oneof.name}")
            elif moved and numbers & set(inside):
                self.add("FIELD_MOVED_TO_EXISTING_ONEOF", f"{path}/{oneof.name}")
            if oneof.name in named:
                for field in named[oneof.name].fields:
                    if field.number not in numbers:
                        self.add("ONEOF_FIELD_REMOVED", f"{path}/{oneof.name}/{field.number}")

    def _field(self, old: Any, new: Any, path: str) -> None:
        kinds = [_kind(each) for each in (old, new)]
        if kinds[0] != kinds[1]:
            self.add("FIELD_KIND_CHANGED", path)
        elif kinds[0] == "scalar":
            forms = [_FORM_OF[each.type] for each in (old, new)]
            if forms[0] != forms[1]:
                self.add("FIELD_SCALAR_KIND_CHANGED", path)
            elif old.is_repeated != new.is_repeated and forms[0] != "text or bytes":
                self.add("FIELD_NUMERIC_LABEL_CHANGED", path)
        elif kinds[0] == "map":
            for name in ("key", "value"):
                parts = [each.message_type.fields_by_name[name] for each in (old, new)]
                self._field(parts[0], parts[1], path)
        else:
            names = [_name_in_package(each.message_type) for each in (old, new)]
            if names[0] != names[1]:
                self.add("FIELD_NAMED_TYPE_CHANGED", path)
            else:
                count = len(self.found)
                self._message(old.message_type, new.message_type, path)
                if len(self.found) > count and old.message_type.file.name != old.file.name:
                    self.add("FIELD_NAMED_TYPE_CHANGED", path)


def _oneofs(message: Any) -> list[Any]:
    """Return a message's oneofs, without the synthetic ones of `optional` fields."""
    return [each for each in message.oneofs if not (len(each.fields) == 1 and each.name.startswith("_"))]


def _kind(field: Any) -> str:
    if field.type not in _MESSAGES:
        return "scalar"
    return "map" if field.message_type.GetOptions().map_entry else "message"


def _name_in_package(message: Any) -> str:
    return str(message.full_name.removeprefix(f"{message.file.package}."))
