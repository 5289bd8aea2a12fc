"""Settings of subjects, contexts and the whole registry: compatibility levels, modes and other settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka.broker.registry.registry_errors import (
    Refused,
    invalid_compatibility,
    invalid_mode,
    no_compatibility,
    no_mode,
    not_permitted,
    subject_not_found,
)
from kafka.broker.registry.store import Store, Subject, checked_subject, subject_of

LEVELS = (
    "NONE",
    "BACKWARD",
    "BACKWARD_TRANSITIVE",
    "FORWARD",
    "FORWARD_TRANSITIVE",
    "FULL",
    "FULL_TRANSITIVE",
)
MODES = ("READWRITE", "READONLY", "READONLY_OVERRIDE", "IMPORT", "FORWARD")
_TYPES: Mapping[str, type] = {"alias": str, "normalize": bool, "compatibilityGroup": str}
"""Supported settings other than the compatibility level."""
_ALWAYS = {"validateFields": False, "validateRules": False, "validateNewSchemas": True}
"""Settings that support only one value."""
_NEVER = (
    "aliasForDeks",
    "compatibilityPolicy",
    "defaultMetadata",
    "overrideMetadata",
    "defaultRuleSet",
    "overrideRuleSet",
)
"""Unsupported settings."""
_DEFAULT_LEVEL = "BACKWARD"
_DEFAULT_MODE = "READWRITE"


class Settings:
    """The settings of subjects, contexts and the registry, in this order of precedence."""

    def __init__(self, store: Store) -> None:
        self._store = store

    # -- effective settings of a subject ------------------------------------------------------------------------------

    def level(self, subject: Subject) -> str:
        """Return the compatibility level, which determines the versions with which a new version must be compatible."""
        return str(self._config_value(subject, "compatibilityLevel") or _DEFAULT_LEVEL)

    def group(self, subject: Subject) -> str | None:
        """Return the metadata property that groups versions; compatibility is only required within a group."""
        value = self._config_value(subject, "compatibilityGroup")
        return None if value is None else str(value)

    def answering(self, subject: Subject) -> Subject:
        """Resolve a subject's alias, and return the resulting subject. Aliases of aliases are ignored."""
        alias = self._store.configs.get(subject, {}).get("alias")
        return subject_of(str(alias), subject.context) if alias else subject

    def normalizes(self, subject: Subject) -> bool:
        """Return whether schemas of a subject are always normalized."""
        return self._config_value(subject, "normalize") is True

    def mode(self, subject: Subject) -> str:
        """Return the mode. The registry's READONLY_OVERRIDE takes precedence over the modes of subjects."""
        everywhere = self._store.modes.get(None, _DEFAULT_MODE)
        if everywhere == "READONLY_OVERRIDE":
            return everywhere
        for place in _places(subject):
            if place in self._store.modes:
                return self._store.modes[place]
        return everywhere

    def check_writable(self, subject: Subject) -> None:
        """Raise `Refused` if a subject is read-only."""
        if self.mode(subject) in ("READONLY", "READONLY_OVERRIDE"):
            raise not_permitted(f"Subject {subject} is in read-only mode")

    def _config_value(self, subject: Subject, name: str) -> Any:
        for place in _places(subject):
            value = self._store.configs.get(place, {}).get(name)
            if value is not None:
                return value
        return None

    # -- requests -----------------------------------------------------------------------------------------------------

    def config(self, subject: Subject | None, default_to_global: bool) -> dict[str, Any]:
        """Return the settings of a subject, or those of the registry if `subject` is None."""
        found = self._store.configs.get(subject)
        if subject is not None and found is None:
            if not default_to_global:
                raise no_compatibility(str(subject))
            return {"compatibilityLevel": self.level(subject)}
        return {"compatibilityLevel": _DEFAULT_LEVEL} | (found or {})

    def set_config(self, subject: Subject | None, given: Mapping[str, Any]) -> dict[str, Any]:
        """Change settings, and return those that have changed."""
        if subject is not None:
            self.check_writable(subject)
        level = given.get("compatibility")
        if level is not None:
            level = str(level).upper()
            if level not in LEVELS:
                raise invalid_compatibility()
        changed = {name: given[name] for name in (*_TYPES, *_ALWAYS, *_NEVER) if name in given}
        for name, value in changed.items():
            _check(subject, name, value)
        kept = self._store.configs.setdefault(subject, {})
        for name, value in {**changed, **({} if level is None else {"compatibilityLevel": level})}.items():
            kept[name] = value
            if value is None or value == "":
                del kept[name]
        self._store.save()
        return ({} if level is None else {"compatibility": level}) | changed

    def delete_config(self, subject: Subject | None) -> dict[str, Any]:
        """Reset a subject to the registry's settings, or the registry to Confluent's defaults."""
        before = self._store.configs.pop(subject, None)
        if before is None and subject is not None:
            raise subject_not_found(str(subject))
        self._store.save()
        return {"compatibilityLevel": _DEFAULT_LEVEL} | (before or {})

    def shown_mode(self, subject: Subject | None, default_to_global: bool) -> dict[str, Any]:
        """Return the mode of a subject, or that of the registry if `subject` is None."""
        if subject is not None and subject not in self._store.modes:
            if not default_to_global:
                raise no_mode(str(subject))
            return {"mode": self.mode(subject)}
        return {"mode": self._store.modes.get(subject, _DEFAULT_MODE)}

    def set_mode(self, subject: Subject | None, given: Mapping[str, Any], force: bool) -> dict[str, Any]:
        """Set a mode."""
        mode = str(given.get("mode")).upper()
        if mode not in MODES:
            raise invalid_mode()
        if mode == "IMPORT" and not force and self._has_schemas(subject):
            raise not_permitted("Cannot import since found existing subjects")
        self._store.modes[subject] = mode
        self._store.save()
        return {"mode": mode}

    def delete_mode(self, subject: Subject | None) -> dict[str, Any]:
        """Reset a subject to the registry's mode."""
        before = self._store.modes.pop(subject, None)
        if before is None and subject is not None:
            raise subject_not_found(str(subject))
        self._store.save()
        return {"mode": before or _DEFAULT_MODE}

    def _has_schemas(self, place: Subject | None) -> bool:
        return any(
            self._store.versions(subject)
            for subject in self._store.subjects
            if place is None or subject == place or (not place.name and subject.context == place.context)
        )


def _places(subject: Subject) -> tuple[Subject | None, ...]:
    """Return the places where a subject's setting can be defined, in decreasing order of precedence."""
    return (subject, Subject(subject.context, ""), None)


def _check(place: Subject | None, name: str, value: Any) -> None:
    """Raise `Refused` for a setting that the registry does not support."""
    if value is None:
        return
    if name in _NEVER:
        raise Refused(422, f"The embedded schema registry does not support the setting {name!r}")
    if name in _ALWAYS and value is not _ALWAYS[name]:
        only = str(_ALWAYS[name]).lower()
        raise Refused(422, f"The embedded schema registry does not support the setting {name!r} except as {only}")
    if name in _TYPES and type(value) is not _TYPES[name]:
        raise Refused(422, f"Expected {name!r} of type {_TYPES[name].__name__}, got {type(value).__name__}")
    if name == "alias" and value:
        if place is None or not place.name:
            raise Refused(422, "Only a subject can have an alias: set it at /config/SUBJECT")
        checked_subject(value, place.context)
