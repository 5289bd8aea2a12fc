# Written by scripts/twins.py from kafka/formats/registry/_async/schema_calls.py: change that file, not this one.
"""The calls about schemas, subjects and versions, with confluent-kafka's names, arguments and results."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal
from urllib.parse import quote

from kafka.errors import IllegalArgumentError
from kafka.formats.registry.client_options import RegistryOptions
from kafka.formats.registry.errors import SchemaRegistryError
from kafka.formats.registry.responses import Cache, items_of, registered, version_of
from kafka.formats.registry.schema_objects import RegisteredSchema, Schema, SchemaVersion, checked_schema

Version = int | Literal["latest"]


class RegistryRequests:
    """Sends requests, and checks the types of answers."""

    def _send(
        self, method: str, path: str, query: Mapping[str, Any] | None = None, body: Mapping[str, Any] | None = None
    ) -> Any:
        raise NotImplementedError

    def _asked(self, kind: type, method: str, path: str, query: Any = None, body: Any = None) -> Any:
        """An answer of a type; raises `SchemaRegistryError` for any other answer."""
        answer = self._send(method, path, {k: v for k, v in (query or {}).items() if v is not None}, body)
        if not isinstance(answer, kind):
            got = type(answer).__name__
            raise SchemaRegistryError(
                0, -1, f"expected an answer of type {kind.__name__}, got {got}", f"{method} /{path}"
            )
        return answer

    def _listed(self, kind: type, method: str, path: str, query: Any = None) -> list[Any]:
        """A list of texts or numbers; raises `SchemaRegistryError` for any other answer."""
        return items_of(self._asked(list, method, path, query), kind, f"{method} /{path}")


def quoted(part: str) -> str:
    """One part of a path. An empty part, or dots, would address something else: the settings of all subjects.

    Raises `IllegalArgumentError` for an empty name.
    """
    if not part:
        raise IllegalArgumentError("expected the name of a subject, or a GUID, got an empty text")
    return part.replace(".", "%2E") if part in (".", "..") else quote(part, safe="")


class SchemaCalls(RegistryRequests):
    """What a registry is asked.

    All raise `SchemaRegistryError` for what the registry refuses, `SchemaRegistryConnectionError`, one of those, where
    no registry answers in time, and `KafkaConfigurationError` for options that cannot be used.
    """

    def _keep_answers(self, options: RegistryOptions) -> None:
        """Create the caches: answers that never change are kept without a time limit, others for a limited time."""
        capacity = options.cache_capacity
        self._by_id: Cache[RegisteredSchema] = Cache(capacity)
        self._by_guid: Cache[Schema] = Cache(capacity)
        self._by_schema: Cache[RegisteredSchema] = Cache(capacity)
        self._looked_up: Cache[RegisteredSchema] = Cache(capacity)
        self._by_version: Cache[RegisteredSchema] = Cache(capacity)
        self._latest: Cache[RegisteredSchema] = Cache(capacity, options.cache_latest_ttl_s)

    # -- schemas ------------------------------------------------------------------------------------------------------

    def register_schema(self, subject_name: str, schema: Schema, normalize_schemas: bool = False) -> int:
        """Register a schema as a subject's next version, unless it is one already; its id.

        Arguments:
            subject_name: the subject.
            schema: the schema.
            normalize_schemas: have the registry bring it into a normal form first.
        """
        made = self.register_schema_full_response(subject_name, schema, normalize_schemas)
        assert made.schema_id is not None
        return made.schema_id

    def register_schema_full_response(
        self, subject_name: str, schema: Schema, normalize_schemas: bool = False
    ) -> RegisteredSchema:
        """As `register_schema`; with all that the registry says of it. What it does not say is None.

        Arguments:
            subject_name: the subject.
            schema: the schema.
            normalize_schemas: have the registry bring it into a normal form first.
        """
        key = (subject_name, checked_schema(schema), normalize_schemas)
        kept = self._by_schema.get(key)
        if kept is not None:
            return kept
        path = f"subjects/{quoted(subject_name)}/versions"
        answer = self._asked(dict, "POST", path, {"normalize": normalize_schemas}, schema.to_dict())
        found = registered(answer, f"POST /{path}", "id")
        told = found.schema if found.schema.schema_str is not None else schema
        made = RegisteredSchema(found.subject or subject_name, found.version, found.schema_id, found.guid, told)
        self._by_schema.put(key, made)
        self._latest.forget(lambda each: isinstance(each, tuple) and each[0] == subject_name)
        return made

    def get_schema(
        self,
        schema_id: int,
        subject_name: str | None = None,
        fmt: str | None = None,
        reference_format: str | None = None,
        find_tags: Sequence[str] | None = None,
    ) -> Schema:
        """The schema with an id; it is asked for once.

        Arguments:
            schema_id: what records carry.
            subject_name: a subject with it; it tells the context in which the id is looked for.
            fmt: the form of the text: "resolved" for Avro, "serialized" for Protobuf; None: as it was registered.
            reference_format: the form of references.
            find_tags: find the records and fields with any of these tags, or with any tag for ["*"]; the schema's
                `schema_tags` are those. Not in confluent-kafka.
        """
        tags = _listed_tags(find_tags)
        key = (schema_id, subject_name, fmt, reference_format, tags)
        kept = self._by_id.get(key)
        if kept is None:
            query = {"subject": subject_name, "format": fmt, "referenceFormat": reference_format, "findTags": tags}
            path = f"schemas/ids/{schema_id:d}"
            kept = registered(self._asked(dict, "GET", path, query), f"GET /{path}", "schema")
            self._by_id.put(key, kept)
        return kept.schema

    def get_schema_by_guid(self, guid: str, fmt: str | None = None) -> Schema:
        """The schema with a GUID; it is asked for once.

        Arguments:
            guid: what records may carry in a header.
            fmt: as of `get_schema`.
        """
        kept = self._by_guid.get((guid, fmt))
        if kept is None:
            path = f"schemas/guids/{quoted(guid)}"
            kept = registered(self._asked(dict, "GET", path, {"format": fmt}), f"GET /{path}", "schema").schema
            self._by_guid.put((guid, fmt), kept)
        return kept

    def get_schema_types(self) -> list[str]:
        """The types of schema that the registry takes."""
        return self._listed(str, "GET", "schemas/types")

    def get_subjects_by_schema_id(
        self, schema_id: int, subject_name: str | None = None, deleted: bool = False, offset: int = 0, limit: int = -1
    ) -> list[str]:
        """The subjects with a schema.

        Arguments:
            schema_id: the schema's id.
            subject_name: only this subject.
            deleted: with subjects where it was deleted.
            offset: how many to leave out.
            limit: how many to give; less than 0: all.
        """
        query = {"subject": subject_name, "deleted": deleted or None, "offset": offset, "limit": limit}
        return self._listed(str, "GET", f"schemas/ids/{schema_id:d}/subjects", query)

    def get_schema_versions(
        self, schema_id: int, subject_name: str | None = None, deleted: bool = False, offset: int = 0, limit: int = -1
    ) -> list[SchemaVersion]:
        """The subjects and versions that are a schema.

        Arguments:
            schema_id: the schema's id.
            subject_name: only this subject.
            deleted: with deleted versions.
            offset: how many to leave out.
            limit: how many to give; less than 0: all.
        """
        query = {"subject": subject_name, "deleted": deleted or None, "offset": offset, "limit": limit}
        path = f"schemas/ids/{schema_id:d}/versions"
        return [version_of(each, f"GET /{path}") for each in self._asked(list, "GET", path, query)]

    # -- subjects and versions ----------------------------------------------------------------------------------------

    def lookup_schema(
        self,
        subject_name: str,
        schema: Schema,
        normalize_schemas: bool = False,
        fmt: str | None = None,
        deleted: bool = False,
    ) -> RegisteredSchema:
        """Look up a schema as it is registered in a subject, without registering it.

        Arguments:
            subject_name: the subject.
            schema: the schema.
            normalize_schemas: have the registry compare normal forms.
            fmt: as of `get_schema`.
            deleted: look among deleted versions too.
        """
        key = (subject_name, checked_schema(schema), normalize_schemas, fmt, deleted)
        kept = self._looked_up.get(key)
        if kept is None:
            query = {"normalize": normalize_schemas, "deleted": deleted, "format": fmt}
            path = f"subjects/{quoted(subject_name)}"
            found = registered(self._asked(dict, "POST", path, query, schema.to_dict()), f"POST /{path}", "id")
            kept = RegisteredSchema(found.subject, found.version, found.schema_id, found.guid, schema)
            self._looked_up.put(key, kept)
        return kept

    def get_subjects(
        self,
        subject_prefix: str | None = None,
        deleted: bool = False,
        deleted_only: bool = False,
        offset: int = 0,
        limit: int = -1,
    ) -> list[str]:
        """The names of subjects.

        Arguments:
            subject_prefix: only those that begin with it.
            deleted: with deleted ones.
            deleted_only: deleted ones alone.
            offset: how many to leave out.
            limit: how many to give; less than 0: all.
        """
        query = {
            "subjectPrefix": subject_prefix,
            "deleted": deleted,
            "deletedOnly": deleted_only,
            "offset": offset,
            "limit": limit,
        }
        return self._listed(str, "GET", "subjects", query)

    def delete_subject(self, subject_name: str, permanent: bool = False) -> list[int]:
        """Delete a subject; returns its versions. The ids of its schemas stay valid until it is deleted permanently.

        Arguments:
            subject_name: the subject.
            permanent: delete permanently; the subject must have been deleted without this before.
        """
        path = f"subjects/{quoted(subject_name)}"
        versions = self._listed(int, "DELETE", path, {"permanent": permanent or None})
        self._forget_subject(subject_name)
        return versions

    def get_latest_version(self, subject_name: str, fmt: str | None = None) -> RegisteredSchema:
        """The newest version of a subject, asked for again after ``cache.latest.ttl.sec``.

        Arguments:
            subject_name: the subject.
            fmt: as of `get_schema`.
        """
        key = (subject_name, "latest", fmt)
        kept = self._latest.get(key)
        if kept is None:
            path = f"subjects/{quoted(subject_name)}/versions/latest"
            kept = registered(self._asked(dict, "GET", path, {"format": fmt}), f"GET /{path}", "schema")
            self._latest.put(key, kept)
        return kept

    def get_latest_with_metadata(
        self, subject_name: str, metadata: Mapping[str, str], deleted: bool = False, fmt: str | None = None
    ) -> RegisteredSchema:
        """The newest version of a subject that has metadata, asked for again after ``cache.latest.ttl.sec``.

        Arguments:
            subject_name: the subject.
            metadata: properties that it has.
            deleted: look among deleted versions too.
            fmt: as of `get_schema`.
        """
        key = (subject_name, frozenset(metadata.items()), deleted, fmt)
        kept = self._latest.get(key)
        if kept is None:
            names = list(metadata)
            query = {"deleted": deleted, "format": fmt, "key": names, "value": [metadata[name] for name in names]}
            path = f"subjects/{quoted(subject_name)}/metadata"
            kept = registered(self._asked(dict, "GET", path, query), f"GET /{path}", "schema")
            self._latest.put(key, kept)
        return kept

    def get_version(
        self,
        subject_name: str,
        version: Version = "latest",
        deleted: bool = False,
        fmt: str | None = None,
        find_tags: Sequence[str] | None = None,
    ) -> RegisteredSchema:
        """A version of a subject; it is asked for once, but the newest always.

        Arguments:
            subject_name: the subject.
            version: its number, or "latest".
            deleted: a deleted version too.
            fmt, find_tags: as of `get_schema`.
        """
        tags = _listed_tags(find_tags)
        key = (subject_name, version, deleted, fmt, tags)
        kept = None if version in ("latest", -1) else self._by_version.get(key)
        if kept is None:
            path = f"subjects/{quoted(subject_name)}/versions/{quoted(str(version))}"
            answer = self._asked(dict, "GET", path, {"deleted": deleted, "format": fmt, "findTags": tags})
            kept = registered(answer, f"GET /{path}", "schema")
            if version not in ("latest", -1):
                self._by_version.put(key, kept)
        return kept

    def get_referenced_by(
        self, subject_name: str, version: Version = "latest", offset: int = 0, limit: int = -1
    ) -> list[int]:
        """The ids of schemas that refer to a version of a subject.

        Arguments:
            subject_name: the subject.
            version: its number, or "latest".
            offset: how many to leave out.
            limit: how many to give; less than 0: all.
        """
        path = f"subjects/{quoted(subject_name)}/versions/{quoted(str(version))}/referencedby"
        return self._listed(int, "GET", path, {"offset": offset, "limit": limit})

    def get_versions(
        self, subject_name: str, deleted: bool = False, deleted_only: bool = False, offset: int = 0, limit: int = -1
    ) -> list[int]:
        """The numbers of a subject's versions.

        Arguments:
            subject_name: the subject.
            deleted: with deleted ones.
            deleted_only: deleted ones alone.
            offset: how many to leave out.
            limit: how many to give; less than 0: all.
        """
        query = {"deleted": deleted, "deletedOnly": deleted_only, "offset": offset, "limit": limit}
        return self._listed(int, "GET", f"subjects/{quoted(subject_name)}/versions", query)

    def delete_version(self, subject_name: str, version: Version, permanent: bool = False) -> int:
        """Delete a version of a subject; returns its number.

        Arguments:
            subject_name: the subject.
            version: its number, or "latest".
            permanent: delete permanently; the version must have been deleted without this before.
        """
        path = f"subjects/{quoted(subject_name)}/versions/{quoted(str(version))}"
        number = self._asked(int, "DELETE", path, {"permanent": permanent or None})
        self._forget_subject(subject_name)
        return int(number)

    # -- caches -------------------------------------------------------------------------------------------------------

    def clear_latest_caches(self) -> None:
        """Forget which versions were the newest."""
        self._latest.forget()

    def clear_caches(self) -> None:
        """Forget all that was answered."""
        for cache in (self._by_id, self._by_guid, self._by_schema, self._looked_up, self._by_version, self._latest):
            cache.forget()

    def _forget_subject(self, subject_name: str) -> None:
        for cache in (self._by_schema, self._looked_up, self._by_version, self._latest):
            cache.forget(lambda each: isinstance(each, tuple) and each[0] == subject_name)


def _listed_tags(find_tags: Sequence[str] | None) -> tuple[str, ...] | None:
    """The tags to find; one given as a text would be taken for its letters."""
    if not find_tags:
        return None
    return (find_tags,) if isinstance(find_tags, str) else tuple(find_tags)
