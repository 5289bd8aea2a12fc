"""The routes of the HTTP API: paths and their handlers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from urllib.parse import unquote

from kafka.broker.registry.registering import Registering
from kafka.broker.registry.registry_errors import Refused, invalid_subject, schema_not_found
from kafka.broker.registry.schema_types import TYPES
from kafka.broker.registry.store import DEFAULT_CONTEXT, Content, Store, Subject, Version, checked_subject, subject_of
from kafka.broker.registry.subject_queries import ALL_CONTEXTS, Subjects, paged
from kafka.broker.registry.subject_settings import Settings

if TYPE_CHECKING:
    from kafka.broker.registry.schema_types import ProtobufSchema


class HttpRequest(NamedTuple):
    """An HTTP request.

    Attributes:
        method: the HTTP method.
        path: the raw path, still percent-encoded, without the query.
        query: the query parameters, each with its values in order.
        body: the request body.
    """

    method: str
    path: str
    query: Mapping[str, list[str]]
    body: bytes

    def flag(self, *names: str) -> bool:
        """Return whether a parameter is true, under any of the names that clients use for it."""
        return any(self.text(name, "").lower() == "true" for name in names)

    def text(self, name: str, default: str) -> str:
        """Return the value of a parameter."""
        return self.query.get(name, [default])[-1]

    def number(self, name: str, default: int) -> int:
        """Return the value of a numeric parameter; raises `Refused` if it is not a number."""
        text = self.text(name, str(default))
        try:
            return int(text)
        except ValueError:
            raise Refused(400, f"Expected a number for {name!r}, got {text[:40]!r}") from None

    def json(self) -> dict[str, Any]:
        """Return the parsed body; raises `Refused` unless it is a JSON object."""
        try:
            value = json.loads(self.body)
        except (ValueError, RecursionError) as error:
            raise Refused(400, f"Expected a JSON object: {error}") from error
        if not isinstance(value, dict):
            raise Refused(400, f"Expected a JSON object, got {type(value).__name__}")
        return value


class Routes:
    """Handles HTTP requests.

    Arguments:
        store: the registry's data.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._settings = Settings(store)
        self._registering = Registering(store, self._settings)
        self._subjects = Subjects(store, self._settings)

    def answer(self, asked: HttpRequest) -> Any:
        """Return the JSON value of a successful response; raises `Refused`."""
        path, context = _without_context(asked.path.rstrip("/"))
        allowed = []
        for method, pattern, handle in _ROUTES:
            match = pattern.fullmatch(path)
            if match is None:
                continue
            if method == asked.method:
                return handle(self, asked, context, *map(unquote, match.groups()))
            allowed.append(method)
        if allowed:
            raise Refused(405, f"HTTP 405 Method Not Allowed: use {', '.join(allowed)}")
        raise Refused(404, "HTTP 404 Not Found")

    # -- schemas ------------------------------------------------------------------------------------------------------

    def nothing(self, asked: HttpRequest, context: str) -> Any:
        """GET /"""
        return {}

    def types(self, asked: HttpRequest, context: str) -> Any:
        """GET /schemas/types"""
        return list(TYPES)

    def schemas(self, asked: HttpRequest, context: str) -> Any:
        """GET /schemas"""
        prefix = asked.text("subjectPrefix", ALL_CONTEXTS if context == DEFAULT_CONTEXT else f":{context}:")
        found = self._subjects.all_versions(prefix, asked.flag("deleted"), asked.flag("latestOnly"))
        part = paged(found, asked.number("offset", 0), asked.number("limit", -1))
        return [self._shown_version(asked, subject, version) for subject, version in part]

    def schema(self, asked: HttpRequest, context: str, schema_id: str) -> Any:
        """GET /schemas/ids/{id}"""
        _check_parameters(asked)
        subject = self._subject(asked.text("subject", ""), context)
        number = _id(schema_id)
        content = self._subjects.by_id(subject.context, number)
        where = {}
        if subject.name:
            users = self._subjects.users(subject.context, number, subject.name, with_deleted=True)
            where = {"subject": str(subject), "version": users[-1][1].number} if users else {}
        return self._shown(asked, content) | {"guid": content.guid} | where

    def schema_text(self, asked: HttpRequest, context: str, schema_id: str) -> Any:
        """GET /schemas/ids/{id}/schema"""
        subject = self._subject(asked.text("subject", ""), context)
        return _raw(self._subjects.by_id(subject.context, _id(schema_id)))

    def schema_subjects(self, asked: HttpRequest, context: str, schema_id: str) -> Any:
        """GET /schemas/ids/{id}/subjects"""
        names = list(dict.fromkeys(str(subject) for subject, _ in self._users(asked, context, schema_id)))
        return paged(names, asked.number("offset", 0), asked.number("limit", -1))

    def schema_versions(self, asked: HttpRequest, context: str, schema_id: str) -> Any:
        """GET /schemas/ids/{id}/versions"""
        users = self._users(asked, context, schema_id)
        part = paged(users, asked.number("offset", 0), asked.number("limit", -1))
        return [{"subject": str(subject), "version": version.number} for subject, version in part]

    def _users(self, asked: HttpRequest, context: str, schema_id: str) -> list[tuple[Subject, Version]]:
        subject = self._subject(asked.text("subject", ""), context)
        return self._subjects.users(subject.context, _id(schema_id), subject.name, asked.flag("deleted"))

    def guid(self, asked: HttpRequest, context: str, guid: str) -> Any:
        """GET /schemas/guids/{guid}"""
        _, number, content = self._subjects.by_guid(guid)[0]
        return self._shown(asked, content) | {"guid": content.guid, "id": number}

    def guid_ids(self, asked: HttpRequest, context: str, guid: str) -> Any:
        """GET /schemas/guids/{guid}/ids"""
        return [{"context": name, "id": number} for name, number, _ in self._subjects.by_guid(guid)]

    # -- subjects and versions ----------------------------------------------------------------------------------------

    def subjects(self, asked: HttpRequest, context: str) -> Any:
        """GET /subjects"""
        prefix = asked.text("subjectPrefix", ALL_CONTEXTS if context == DEFAULT_CONTEXT else f":{context}:")
        found = self._subjects.names(prefix, asked.flag("deleted"), asked.flag("deletedOnly", "deleted_only"))
        return paged(found, asked.number("offset", 0), asked.number("limit", -1))

    def contexts(self, asked: HttpRequest, context: str) -> Any:
        """GET /contexts"""
        return paged(self._subjects.contexts(), asked.number("offset", 0), asked.number("limit", -1))

    def lookup(self, asked: HttpRequest, context: str, name: str) -> Any:
        """POST /subjects/{subject}"""
        subject = self._subject(name, context)
        body = asked.json()
        given = self._registering.given(subject, body, asked.flag("normalize"))
        found = self._shown_version(asked, subject, self._registering.lookup(subject, given, asked.flag("deleted")))
        return _in_given_form(found, body)

    def delete_subject(self, asked: HttpRequest, context: str, name: str) -> Any:
        """DELETE /subjects/{subject}"""
        return self._subjects.delete_subject(self._subject(name, context), asked.flag("permanent"))

    def versions(self, asked: HttpRequest, context: str, name: str) -> Any:
        """GET /subjects/{subject}/versions"""
        found = self._subjects.numbers(
            self._subject(name, context), asked.flag("deleted"), asked.flag("deletedOnly", "deleted_only")
        )
        return paged(found, asked.number("offset", 0), asked.number("limit", -1))

    def register(self, asked: HttpRequest, context: str, name: str) -> Any:
        """POST /subjects/{subject}/versions"""
        subject = self._settings.answering(checked_subject(name, context))
        body = asked.json()
        given = self._registering.given(subject, body, asked.flag("normalize"))
        made = self._shown_version(asked, subject, self._registering.register(subject, given))
        del made["subject"]
        return _in_given_form(made, body)

    def version(self, asked: HttpRequest, context: str, name: str, version: str) -> Any:
        """GET /subjects/{subject}/versions/{version}"""
        _check_parameters(asked)
        subject = self._subject(name, context)
        return self._shown_version(asked, subject, self._subjects.version(subject, version, asked.flag("deleted")))

    def version_text(self, asked: HttpRequest, context: str, name: str, version: str) -> Any:
        """GET /subjects/{subject}/versions/{version}/schema"""
        subject = self._subject(name, context)
        found = self._subjects.version(subject, version, asked.flag("deleted"))
        return _raw(self._store.content(subject, found))

    def delete_version(self, asked: HttpRequest, context: str, name: str, version: str) -> Any:
        """DELETE /subjects/{subject}/versions/{version}"""
        return self._subjects.delete_version(self._subject(name, context), version, asked.flag("permanent"))

    def referenced_by(self, asked: HttpRequest, context: str, name: str, version: str) -> Any:
        """GET /subjects/{subject}/versions/{version}/referencedby"""
        subject = self._subject(name, context)
        found = self._subjects.referenced_by(subject, self._subjects.version(subject, version, with_deleted=True))
        return paged(found, asked.number("offset", 0), asked.number("limit", -1))

    def metadata(self, asked: HttpRequest, context: str, name: str) -> Any:
        """GET /subjects/{subject}/metadata"""
        subject = self._subject(name, context)
        wanted = dict(zip(asked.query.get("key", ()), asked.query.get("value", ()), strict=False))
        return self._shown_version(asked, subject, self._subjects.with_metadata(subject, wanted, asked.flag("deleted")))

    # -- compatibility, settings, modes -------------------------------------------------------------------------------

    def compatible_with_version(self, asked: HttpRequest, context: str, name: str, version: str) -> Any:
        """POST /compatibility/subjects/{subject}/versions/{version}"""
        subject = self._subject(name, context)
        found = self._subjects.version(subject, version)
        given = self._registering.given(subject, asked.json(), asked.flag("normalize"))
        return _compatibility(self._registering.reasons_against_version(subject, given, found), asked.flag("verbose"))

    def compatible(self, asked: HttpRequest, context: str, name: str) -> Any:
        """POST /compatibility/subjects/{subject}/versions"""
        subject = self._subject(name, context)
        given = self._registering.given(subject, asked.json(), asked.flag("normalize"))
        return _compatibility(self._registering.reasons_against(subject, given), asked.flag("verbose"))

    def config(self, asked: HttpRequest, context: str, name: str | None = None) -> Any:
        """GET /config, /config/{subject}"""
        return self._settings.config(_place(name, context), asked.flag("defaultToGlobal"))

    def set_config(self, asked: HttpRequest, context: str, name: str | None = None) -> Any:
        """PUT /config, /config/{subject}"""
        return self._settings.set_config(_place(name, context), asked.json())

    def delete_config(self, asked: HttpRequest, context: str, name: str | None = None) -> Any:
        """DELETE /config, /config/{subject}"""
        return self._settings.delete_config(_place(name, context))

    def mode(self, asked: HttpRequest, context: str, name: str | None = None) -> Any:
        """GET /mode, /mode/{subject}"""
        return self._settings.shown_mode(_place(name, context), asked.flag("defaultToGlobal"))

    def set_mode(self, asked: HttpRequest, context: str, name: str | None = None) -> Any:
        """PUT /mode, /mode/{subject}"""
        return self._settings.set_mode(_place(name, context), asked.json(), asked.flag("force"))

    def delete_mode(self, asked: HttpRequest, context: str, name: str | None = None) -> Any:
        """DELETE /mode, /mode/{subject}"""
        return self._settings.delete_mode(_place(name, context))

    def associations(self, asked: HttpRequest, context: str, *where: str) -> Any:
        """Any method on /associations..."""
        raise Refused(404, "The embedded schema registry has no associations")

    def _subject(self, name: str, context: str) -> Subject:
        """Return the subject that a name refers to, after resolving its alias."""
        return self._settings.answering(subject_of(name, context))

    def _shown_version(self, asked: HttpRequest, subject: Subject, version: Version) -> dict[str, Any]:
        content = self._store.content(subject, version)
        shown = {
            "subject": str(subject),
            "version": version.number,
            "id": version.schema_id,
            "guid": content.guid,
            "schemaType": content.kind,
            **self._shown(asked, content),
        }
        return shown | {"deleted": True} if version.is_deleted else shown

    def _shown(self, asked: HttpRequest, content: Content) -> dict[str, Any]:
        shown = _shown(content)
        if content.kind == "PROTOBUF" and asked.text("format", "") == "serialized":
            shown["schema"] = cast("ProtobufSchema", self._registering.parsed_content(content)).serialized()
        return shown


def _shown(content: Content) -> dict[str, Any]:
    """Return a schema in the response format, which omits the type for Avro."""
    shown: dict[str, Any] = {} if content.kind == "AVRO" else {"schemaType": content.kind}
    if content.references:
        shown["references"] = [
            {"name": name, "subject": subject, "version": version} for name, subject, version in content.references
        ]
    if content.metadata is not None:
        shown["metadata"] = content.metadata
    if content.rule_set is not None:
        shown["ruleSet"] = content.rule_set
    return shown | {"schema": content.schema}


def _in_given_form(shown: dict[str, Any], body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a Protobuf schema in the format of the request: a client that sends a descriptor expects a descriptor."""
    return shown | {"schema": body["schema"]} if shown["schemaType"] == "PROTOBUF" else shown


def _check_parameters(asked: HttpRequest) -> None:
    if asked.query.get("findTags"):
        raise Refused(422, "The embedded schema registry does not support 'findTags'")


def _raw(content: Content) -> Any:
    """Return the schema itself, as JSON if possible, otherwise as text."""
    try:
        return json.loads(content.schema)
    except ValueError:
        return content.schema


def _compatibility(reasons: list[str], verbose: bool) -> dict[str, Any]:
    return {"is_compatible": not reasons} | ({"messages": reasons} if verbose else {})


def _id(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 10:
        raise schema_not_found(text[:40])
    return int(text)


def _place(name: str | None, context: str) -> Subject | None:
    """Return the subject or context that a settings request refers to; None for the whole registry."""
    if name is None:
        return None if context == DEFAULT_CONTEXT else Subject(context, "")
    return subject_of(name, context)


_CONTEXT = re.compile(r"/contexts/([^/]+)(/.+)")


def _without_context(path: str) -> tuple[str, str]:
    """Split a path and its context: ``/contexts/.dev/subjects`` becomes ``/subjects`` and ``.dev``."""
    match = _CONTEXT.fullmatch(path)
    if match is None:
        return path, DEFAULT_CONTEXT
    name = unquote(match[1]).strip(":")
    if ":" in name:
        raise invalid_subject(f":{name}:")
    return match[2], name if name.startswith(".") else f".{name}"


def _table(*rows: tuple[str, str, Callable[..., Any]]) -> list[tuple[str, re.Pattern[str], Callable[..., Any]]]:
    return [(method, re.compile(path.replace("*", "([^/]+)")), handle) for method, path, handle in rows]


_ROUTES = _table(
    ("GET", "", Routes.nothing),
    ("GET", "/schemas/types", Routes.types),
    ("GET", "/schemas", Routes.schemas),
    ("GET", "/schemas/ids/*", Routes.schema),
    ("GET", "/schemas/ids/*/schema", Routes.schema_text),
    ("GET", "/schemas/ids/*/subjects", Routes.schema_subjects),
    ("GET", "/schemas/ids/*/versions", Routes.schema_versions),
    ("GET", "/schemas/guids/*", Routes.guid),
    ("GET", "/schemas/guids/*/ids", Routes.guid_ids),
    ("GET", "/contexts", Routes.contexts),
    ("GET", "/subjects", Routes.subjects),
    ("POST", "/subjects/*", Routes.lookup),
    ("DELETE", "/subjects/*", Routes.delete_subject),
    ("GET", "/subjects/*/versions", Routes.versions),
    ("POST", "/subjects/*/versions", Routes.register),
    ("GET", "/subjects/*/versions/*", Routes.version),
    ("DELETE", "/subjects/*/versions/*", Routes.delete_version),
    ("GET", "/subjects/*/versions/*/schema", Routes.version_text),
    ("GET", "/subjects/*/versions/*/referencedby", Routes.referenced_by),
    ("GET", "/subjects/*/metadata", Routes.metadata),
    ("POST", "/compatibility/subjects/*/versions", Routes.compatible),
    ("POST", "/compatibility/subjects/*/versions/*", Routes.compatible_with_version),
    ("GET", "/config", Routes.config),
    ("PUT", "/config", Routes.set_config),
    ("DELETE", "/config", Routes.delete_config),
    ("GET", "/config/*", Routes.config),
    ("PUT", "/config/*", Routes.set_config),
    ("DELETE", "/config/*", Routes.delete_config),
    ("GET", "/mode", Routes.mode),
    ("PUT", "/mode", Routes.set_mode),
    ("DELETE", "/mode", Routes.delete_mode),
    ("GET", "/mode/*", Routes.mode),
    ("PUT", "/mode/*", Routes.set_mode),
    ("DELETE", "/mode/*", Routes.delete_mode),
    ("POST", "/associations", Routes.associations),
    ("GET", "/associations/resources/*/*", Routes.associations),
    ("DELETE", "/associations/resources/*", Routes.associations),
)
