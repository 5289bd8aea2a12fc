"""Queries for subjects, versions and schemas, and the deletion of subjects and versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from kafka.broker.registry.registry_errors import (
    invalid_version,
    reference_exists,
    schema_not_found,
    subject_not_found,
    subject_not_soft_deleted,
    subject_soft_deleted,
    version_not_found,
    version_not_soft_deleted,
    version_soft_deleted,
)
from kafka.broker.registry.store import DEFAULT_CONTEXT, MAX_NUMBER, Content, Store, Subject, Version
from kafka.broker.registry.subject_settings import Settings

T = TypeVar("T")
ALL_CONTEXTS = ":*:"


class Subjects:
    """Finds and deletes subjects and versions.

    Arguments:
        store: the registry's data.
        settings: the settings of subjects.
    """

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings

    # -- lists --------------------------------------------------------------------------------------------------------

    def names(self, prefix: str, with_deleted: bool, only_deleted: bool) -> list[str]:
        """Return the sorted names of the subjects that start with a prefix."""
        found = []
        for subject in self._store.subjects:
            is_deleted = not self._store.versions(subject)
            if (is_deleted if only_deleted else with_deleted or not is_deleted) and _begins(subject, prefix):
                found.append(str(subject))
        return sorted(found)

    def contexts(self) -> list[str]:
        """Return the names of all contexts, starting with the default context."""
        return sorted({DEFAULT_CONTEXT, *(subject.context for subject in self._store.subjects)})

    def numbers(self, subject: Subject, with_deleted: bool, only_deleted: bool) -> list[int]:
        """Return the version numbers of a subject; raises `Refused` if there are none."""
        versions = self._store.versions(subject, with_deleted or only_deleted)
        if only_deleted:
            versions = [each for each in versions if each.is_deleted]
        if not versions:
            raise subject_not_found(str(subject))
        return [each.number for each in versions]

    def all_versions(self, prefix: str, with_deleted: bool, latest_only: bool) -> list[tuple[Subject, Version]]:
        """Return the versions of subjects whose names start with a prefix."""
        found = []
        for subject in sorted(self._store.subjects):
            versions = self._store.versions(subject, with_deleted) if _begins(subject, prefix) else []
            found += [(subject, each) for each in (versions[-1:] if latest_only else versions)]
        return found

    # -- one version --------------------------------------------------------------------------------------------------

    def version(self, subject: Subject, text: str, with_deleted: bool = False) -> Version:
        """Return the requested version; raises `Refused`."""
        number = _version_number(text)
        versions = self._store.versions(subject, with_deleted)
        if not versions:
            raise subject_not_found(str(subject))
        if number is None:
            return versions[-1]
        for each in versions:
            if each.number == number:
                return each
        raise version_not_found(number)

    def with_metadata(self, subject: Subject, wanted: Mapping[str, str], with_deleted: bool) -> Version:
        """Return the newest version with the given metadata properties."""
        versions = self._store.versions(subject, with_deleted)
        if not versions:
            raise subject_not_found(str(subject))
        for each in reversed(versions):
            properties = (self._store.content(subject, each).metadata or {}).get("properties") or {}
            if all(properties.get(name) == value for name, value in wanted.items()):
                return each
        raise schema_not_found()

    def referenced_by(self, subject: Subject, version: Version) -> list[int]:
        """Return the ids of the schemas that refer to a version. Deleted versions are ignored."""
        target = (str(subject), version.number)
        found = set()
        for other, versions in self._store.subjects.items():
            for each in versions:
                references = self._store.content(other, each).references
                if not each.is_deleted and any((name, number) == target for _, name, number in references):
                    found.add(each.schema_id)
        return sorted(found)

    # -- schemas by id ------------------------------------------------------------------------------------------------

    def by_id(self, context: str, schema_id: int) -> Content:
        """Return the schema with the given id."""
        known = self._store.contexts.get(context)
        found = None if known is None else known.schemas.get(schema_id)
        if found is None:
            raise schema_not_found(schema_id)
        return found

    def by_guid(self, guid: str) -> list[tuple[str, int, Content]]:
        """Return each context and id under which the schema with a GUID is stored, along with the schema."""
        found = [
            (name, number, content)
            for name, context in self._store.contexts.items()
            for number, content in context.schemas.items()
            if content.guid == guid.lower()
        ]
        if not found:
            raise schema_not_found(guid)
        return found

    def users(
        self, context: str, schema_id: int, only: str | None, with_deleted: bool
    ) -> list[tuple[Subject, Version]]:
        """Return the versions that use the schema with the given id."""
        self.by_id(context, schema_id)
        found = self._store.users(context, schema_id, with_deleted)
        return sorted(((s, v) for s, v in found if not only or s.name == only), key=lambda each: str(each[0]))

    # -- deletion -----------------------------------------------------------------------------------------------------

    def delete_subject(self, subject: Subject, permanent: bool) -> list[int]:
        """Delete all versions of a subject, and return their numbers."""
        self._settings.check_writable(subject)
        versions = self._store.versions(subject, with_deleted=True)
        living = self._store.versions(subject)
        if not versions:
            raise subject_not_found(str(subject))
        if permanent and living:
            raise subject_not_soft_deleted(str(subject))
        if not permanent and not living:
            raise subject_soft_deleted(str(subject))
        gone = versions if permanent else living
        for each in gone:
            self._check_unreferenced(subject, each)
        if permanent:
            self._store.configs.pop(subject, None)
            self._store.modes.pop(subject, None)
        self._delete(subject, gone, permanent)
        return [each.number for each in gone]

    def delete_version(self, subject: Subject, text: str, permanent: bool) -> int:
        """Delete one version of a subject, and return its number."""
        self._settings.check_writable(subject)
        number = _version_number(text)
        versions = self._store.versions(subject, with_deleted=True)
        if not versions:
            raise subject_not_found(str(subject))
        if number is None:
            found = (self._store.versions(subject) or versions)[-1]
        else:
            matching = [each for each in versions if each.number == number]
            if not matching:
                raise version_not_found(number)
            found = matching[0]
        if permanent and not found.is_deleted:
            raise version_not_soft_deleted(str(subject), found.number)
        if not permanent and found.is_deleted:
            raise version_soft_deleted(str(subject), found.number)
        self._check_unreferenced(subject, found)
        self._delete(subject, [found], permanent)
        return found.number

    def _check_unreferenced(self, subject: Subject, version: Version) -> None:
        if self.referenced_by(subject, version):
            raise reference_exists(str(subject), version.number)

    def _delete(self, subject: Subject, gone: list[Version], permanent: bool) -> None:
        if permanent:
            self._store.remove(subject, gone)
        else:
            for each in gone:
                each.is_deleted = True
        self._store.save()


def paged(found: list[T], offset: int, limit: int) -> list[T]:
    """Return at most `limit` items of a list, starting at `offset`; if `limit` is negative, all items from there."""
    found = found[max(offset, 0) :]
    return found if limit < 0 else found[:limit]


def _version_number(text: str) -> int | None:
    """Parse a version number; return None for "latest". Raises `Refused`."""
    if text in ("latest", "-1"):
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 10 or not 1 <= int(text) <= MAX_NUMBER:
        raise invalid_version(text[:40])
    return int(text)


def _begins(subject: Subject, prefix: str) -> bool:
    if prefix == ALL_CONTEXTS:
        return True
    if prefix.startswith(":"):
        return str(subject).startswith(prefix)
    return subject.context == DEFAULT_CONTEXT and subject.name.startswith(prefix)
