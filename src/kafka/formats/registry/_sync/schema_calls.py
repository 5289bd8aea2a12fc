# Written by scripts/twins.py from kafka/formats/registry/_async/schema_calls.py: change that file, not this one.
"""Calls for schemas, subjects and versions, with confluent-kafka's names, arguments and results."""

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
    """Sends requests, and checks the types of the responses."""

    def _send(
        self, method: str, path: str, query: Mapping[str, Any] | None = None, body: Mapping[str, Any] | None = None
    ) -> Any:
        raise NotImplementedError

    def _asked(self, kind: type, method: str, path: str, query: Any = None, body: Any = None) -> Any:
        """Send a request and return the response; raises `SchemaRegistryError` if its type is not `kind`."""
        answer = self._send(method, path, {k: v for k, v in (query or {}).items() if v is not None}, body)
        if not isinstance(answer, kind):
            got = type(answer).__name__
            raise SchemaRegistryError(
                0, -1, f"expected a response of type {kind.__name__}, got {got}", f"{method} /{path}"
            )
        return answer

    def _listed(self, kind: type, method: str, path: str, query: Any = None) -> list[Any]:
        """Request a list of strings or numbers; raises `SchemaRegistryError` for any other response."""
        return items_of(self._asked(list, method, path, query), kind, f"{method} /{path}")


def quoted(part: str) -> str:
    """Quote one path segment, including dots, because the segment ".." would change the path.

    Raises `IllegalArgumentError` for an empty segment, which would address the settings for all subjects.
    """
    if not part:
        raise IllegalArgumentError("expected the name of a subject, or a GUID, got an empty text")
    return part.replace(".", "%2E") if part in (".", "..") else quote(part, safe="")


class SchemaCalls(RegistryRequests):
    """Calls for schemas, subjects and versions.

    All methods raise `SchemaRegistryError` if the registry rejects the request, its subclass
    `SchemaRegistryConnectionError` if no registry responds in time, and `KafkaConfigurationError` for unusable options.
    """

    def _keep_answers(self, options: RegistryOptions) -> None:
        """Create the caches: responses that never change are cached without a time limit, others for a limited time."""
        capacity = options.cache_capacity
        self._by_id: Cache[RegisteredSchema] = Cache(capacity)
        self._by_guid: Cache[Schema] = Cache(capacity)
        self._by_schema: Cache[RegisteredSchema] = Cache(capacity)
        self._looked_up: Cache[RegisteredSchema] = Cache(capacity)
        self._by_version: Cache[RegisteredSchema] = Cache(capacity)
        self._latest: Cache[RegisteredSchema] = Cache(capacity, options.cache_latest_ttl_s)

    # -- schemas ------------------------------------------------------------------------------------------------------

    def register_schema(self, subject_name: str, schema: Schema, normalize_schemas: bool = False) -> int:
        """Register a schema as a subject's next version, unless it is already registered; returns its id.

        Arguments:
            subject_name: the subject.
            schema: the schema.
            normalize_schemas: let the registry normalize the schema first.
        """
        made = self.register_schema_full_response(subject_name, schema, normalize_schemas)
        assert made.schema_id is not None
        return made.schema_id

    def register_schema_full_response(
        self, subject_name: str, schema: Schema, normalize_schemas: bool = False
    ) -> RegisteredSchema:
        """Register a schema like `register_schema`, but return the complete response. Missing values are None.

        Arguments:
            subject_name: the subject.
            schema: the schema.
            normalize_schemas: let the registry normalize the schema first.
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
        """Return a schema by its id. The result is cached.

        Arguments:
            schema_id: the schema id that records contain.
            subject_name: a subject with this schema; determines the context in which the id is looked up.
            fmt: the format of the text: "resolved" for Avro, "serialized" for Protobuf; None: as registered.
            reference_format: the format of references.
            find_tags: find the records and fields with any of these tags, or with any tag for ["*"]; the result is in
                the schema's `schema_tags`. Not in confluent-kafka.
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
        """Return a schema by its GUID. The result is cached.

        Arguments:
            guid: the schema GUID that record headers contain.
            fmt: see `get_schema`.
        """
        kept = self._by_guid.get((guid, fmt))
        if kept is None:
            path = f"schemas/guids/{quoted(guid)}"
            kept = registered(self._asked(dict, "GET", path, {"format": fmt}), f"GET /{path}", "schema").schema
            self._by_guid.put((guid, fmt), kept)
        return kept

    def get_schema_types(self) -> list[str]:
        """Return the schema types that the registry supports, such as "AVRO", "JSON" and "PROTOBUF"."""
        return self._listed(str, "GET", "schemas/types")

    def get_subjects_by_schema_id(
        self, schema_id: int, subject_name: str | None = None, deleted: bool = False, offset: int = 0, limit: int = -1
    ) -> list[str]:
        """Return the subjects in which a schema is registered.

        Arguments:
            schema_id: the schema's id.
            subject_name: return only this subject.
            deleted: include subjects from which the schema was deleted.
            offset: number of results to skip.
            limit: maximum number of results; a negative number means no limit.
        """
        query = {"subject": subject_name, "deleted": deleted or None, "offset": offset, "limit": limit}
        return self._listed(str, "GET", f"schemas/ids/{schema_id:d}/subjects", query)

    def get_schema_versions(
        self, schema_id: int, subject_name: str | None = None, deleted: bool = False, offset: int = 0, limit: int = -1
    ) -> list[SchemaVersion]:
        """Return the subjects and versions under which a schema is registered.

        Arguments:
            schema_id: the schema's id.
            subject_name: return only this subject.
            deleted: include deleted versions.
            offset: number of results to skip.
            limit: maximum number of results; a negative number means no limit.
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
        """Look up a schema in a subject without registering it.

        Arguments:
            subject_name: the subject.
            schema: the schema.
            normalize_schemas: let the registry compare normalized schemas.
            fmt: see `get_schema`.
            deleted: include deleted versions.
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
        """Return the names of subjects.

        Arguments:
            subject_prefix: return only names with this prefix.
            deleted: include deleted subjects.
            deleted_only: return only deleted subjects.
            offset: number of results to skip.
            limit: maximum number of results; a negative number means no limit.
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
        """Delete a subject; returns its versions. The schema ids remain valid until the subject is deleted permanently.

        Arguments:
            subject_name: the subject.
            permanent: delete permanently, which is only possible after a normal deletion.
        """
        path = f"subjects/{quoted(subject_name)}"
        versions = self._listed(int, "DELETE", path, {"permanent": permanent or None})
        self._forget_subject(subject_name)
        return versions

    def get_latest_version(self, subject_name: str, fmt: str | None = None) -> RegisteredSchema:
        """Return a subject's newest version, cached for ``cache.latest.ttl.sec``.

        Arguments:
            subject_name: the subject.
            fmt: see `get_schema`.
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
        """Return a subject's newest version with the given metadata, cached for ``cache.latest.ttl.sec``.

        Arguments:
            subject_name: the subject.
            metadata: properties that the version must have.
            deleted: include deleted versions.
            fmt: see `get_schema`.
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
        """Return a version of a subject. The result is cached, except for "latest".

        Arguments:
            subject_name: the subject.
            version: the version number, or "latest".
            deleted: include deleted versions.
            fmt, find_tags: see `get_schema`.
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
        """Return the ids of the schemas that refer to a version of a subject.

        Arguments:
            subject_name: the subject.
            version: the version number, or "latest".
            offset: number of results to skip.
            limit: maximum number of results; a negative number means no limit.
        """
        path = f"subjects/{quoted(subject_name)}/versions/{quoted(str(version))}/referencedby"
        return self._listed(int, "GET", path, {"offset": offset, "limit": limit})

    def get_versions(
        self, subject_name: str, deleted: bool = False, deleted_only: bool = False, offset: int = 0, limit: int = -1
    ) -> list[int]:
        """Return a subject's version numbers.

        Arguments:
            subject_name: the subject.
            deleted: include deleted versions.
            deleted_only: return only deleted versions.
            offset: number of results to skip.
            limit: maximum number of results; a negative number means no limit.
        """
        query = {"deleted": deleted, "deletedOnly": deleted_only, "offset": offset, "limit": limit}
        return self._listed(int, "GET", f"subjects/{quoted(subject_name)}/versions", query)

    def delete_version(self, subject_name: str, version: Version, permanent: bool = False) -> int:
        """Delete a version of a subject; returns the version number.

        Arguments:
            subject_name: the subject.
            version: the version number, or "latest".
            permanent: delete permanently, which is only possible after a normal deletion.
        """
        path = f"subjects/{quoted(subject_name)}/versions/{quoted(str(version))}"
        number = self._asked(int, "DELETE", path, {"permanent": permanent or None})
        self._forget_subject(subject_name)
        return int(number)

    # -- caches -------------------------------------------------------------------------------------------------------

    def clear_latest_caches(self) -> None:
        """Forget which version of a subject is the newest, so that the next call asks the registry."""
        self._latest.forget()

    def clear_caches(self) -> None:
        """Forget every schema, id and version that the client has read, so that the next call asks the registry."""
        for cache in (self._by_id, self._by_guid, self._by_schema, self._looked_up, self._by_version, self._latest):
            cache.forget()

    def _forget_subject(self, subject_name: str) -> None:
        for cache in (self._by_schema, self._looked_up, self._by_version, self._latest):
            cache.forget(lambda each: isinstance(each, tuple) and each[0] == subject_name)


def _listed_tags(find_tags: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return the tags to find as a tuple. A string is a single tag; its characters must not be mistaken for tags."""
    if not find_tags:
        return None
    return (find_tags,) if isinstance(find_tags, str) else tuple(find_tags)
