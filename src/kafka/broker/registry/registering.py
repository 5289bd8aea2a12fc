"""Registration of schemas: resolves references, finds existing versions, and checks compatibility."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from kafka.broker.registry.registry_errors import (
    Refused,
    incompatible,
    invalid_schema,
    not_permitted,
    schema_not_found,
    subject_not_found,
)
from kafka.broker.registry.schema_types import ParsedSchema, parsed
from kafka.broker.registry.store import MAX_NUMBER, Content, Store, Subject, Version, subject_of
from kafka.broker.registry.subject_settings import Settings

_MAX_REFERENCES = 1000
_MAX_DEPTH = 50


class Given(NamedTuple):
    """A schema in a request."""

    content: Content
    parsed: ParsedSchema
    schema_id: int | None
    version: int | None


class Registering:
    """Registers and finds schemas.

    Arguments:
        store: the registry's data.
        settings: the settings of subjects.
    """

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings

    def given(self, subject: Subject, body: Mapping[str, Any], normalize: bool) -> Given:
        """Parse the schema in a request; raises `Refused` if it is invalid."""
        text = body.get("schema")
        if not isinstance(text, str) or not text.strip():
            raise invalid_schema("the text of the schema is missing ('schema')")
        kind = str(body.get("schemaType") or "AVRO").upper()
        references = self._references(subject, body.get("references"))
        found = parsed(kind, text, self._resolved(references, 0))
        normalize = normalize or self._settings.normalizes(subject)
        content = Content(
            found.normalized if normalize else found.text,
            kind,
            references,
            _object(body, "metadata"),
            _object(body, "ruleSet"),
        )
        return Given(content, found, _number(body, "id"), _number(body, "version"))

    def lookup(self, subject: Subject, given: Given, with_deleted: bool) -> Version:
        """Find the version with a given schema; raises `Refused` if there is none."""
        versions = self._store.versions(subject, with_deleted)
        if not versions:
            raise subject_not_found(str(subject))
        found = self._same(subject, given.content, versions)
        if found is None:
            raise schema_not_found()
        return found

    def register(self, subject: Subject, given: Given) -> Version:
        """Register a schema as the next version of a subject, unless the subject already has it."""
        self._settings.check_writable(subject)
        is_import = self._settings.mode(subject) == "IMPORT"
        if given.schema_id is not None and not is_import:
            same = self._same(subject, given.content, self._store.versions(subject))
            if same is None or same.schema_id != given.schema_id:
                raise not_permitted(f"Subject {subject} is not in import mode")
        versions = self._store.versions(subject)
        found = self._same(subject, given.content, versions)
        if found is not None and given.schema_id in (None, found.schema_id):
            return found
        context = self._store.context(subject.context)
        if is_import:
            schema_id = context.next_id if given.schema_id is None else given.schema_id
            there = context.schemas.get(schema_id)
            if there is not None and there.key != given.content.key:
                raise not_permitted(f"Overwrite new schema with id {schema_id} is not permitted.")
        else:
            reasons = self.reasons_against(subject, given)
            if reasons:
                raise incompatible(str(subject), reasons)
            known = context.ids.get(given.content.key)
            schema_id = context.next_id if known is None else known
        if schema_id > MAX_NUMBER:
            raise not_permitted(f"There is no schema id left after {MAX_NUMBER}.")
        before = self._store.versions(subject, with_deleted=True)
        number = max((each.number for each in before), default=0) + 1
        if given.version is not None and given.version != number:
            if not is_import:
                raise Refused(42205, f"Version is not one more than previous version of subject {subject}")
            number = given.version
        context.put(schema_id, given.content)
        made = Version(number, schema_id)
        kept = [each for each in before if each.number != number]
        self._store.subjects[subject] = sorted([*kept, made], key=lambda each: each.number)
        self._store.save()
        return made

    def reasons_against(self, subject: Subject, given: Given) -> list[str]:
        """Return the reasons why a schema violates the subject's compatibility level; empty if it is compatible."""
        level = self._settings.level(subject)
        versions = self._of_group(subject, given, self._store.versions(subject))
        if level == "NONE" or not versions:
            return []
        if not level.endswith("_TRANSITIVE"):
            versions = versions[-1:]
        for version in reversed(versions):
            reasons = self.reasons_against_version(subject, given, version, level)
            if reasons:
                return reasons
        return []

    def reasons_against_version(
        self, subject: Subject, given: Given, version: Version, level: str | None = None
    ) -> list[str]:
        """Return why a schema is incompatible with a version. By default the subject's compatibility level applies."""
        level = self._settings.level(subject) if level is None else level
        if level == "NONE":
            return []
        content = self._store.content(subject, version)
        reasons = []
        if content.kind != given.content.kind:
            reasons.append(
                "{errorType:'TYPE_MISMATCH', description:\"A schema of the type "
                f'{given.content.kind} is compared with one of the type {content.kind}"}}'
            )
        else:
            old = self.parsed_content(content)
            if level.startswith(("BACKWARD", "FULL")):
                reasons += given.parsed.reasons_not_to_read(old)
            if level.startswith(("FORWARD", "FULL")):
                reasons += [each for each in old.reasons_not_to_read(given.parsed) if each not in reasons]
        if reasons:
            reasons += [
                f"{{oldSchemaVersion: {version.number}}}",
                f"{{oldSchema: '{content.schema}'}}",
                f"{{compatibility: '{level}'}}",
            ]
        return reasons

    def parsed_content(self, content: Content) -> ParsedSchema:
        """Parse a stored schema."""
        return parsed(content.kind, content.schema, self._resolved(content.references, 0))

    def _same(self, subject: Subject, content: Content, versions: list[Version]) -> Version | None:
        """Return the newest version with the same schema. Without metadata and rules only the text is compared."""
        for each in reversed(versions):
            kept = self._store.content(subject, each)
            if kept.key == content.key:
                return each
        return None

    def _of_group(self, subject: Subject, given: Given, versions: list[Version]) -> list[Version]:
        name = self._settings.group(subject)
        if name is None:
            return versions
        wanted = _property(given.content, name)
        return [each for each in versions if _property(self._store.content(subject, each), name) == wanted]

    # -- references ---------------------------------------------------------------------------------------------------

    def _references(self, subject: Subject, listed: Any) -> tuple[tuple[str, str, int], ...]:
        if listed is None:
            return ()
        if not isinstance(listed, list) or len(listed) > _MAX_REFERENCES:
            raise invalid_schema(f"expected a list of at most {_MAX_REFERENCES} references")
        return tuple(self._reference(subject, each) for each in listed)

    def _reference(self, subject: Subject, given: Any) -> tuple[str, str, int]:
        if not isinstance(given, dict) or not all(isinstance(given.get(key), str) for key in ("name", "subject")):
            raise invalid_schema("expected each reference to be an object with 'name', 'subject' and 'version'")
        target = subject_of(given["subject"], subject.context)
        version = given.get("version", -1)
        versions = self._store.versions(target, with_deleted=True)
        if version == -1:
            versions = self._store.versions(target)[-1:]
        else:
            versions = [each for each in versions if each.number == version]
        if not versions:
            raise invalid_schema(
                f"the reference {given['name']!r} is to version {version} of subject '{target}', which does not exist"
            )
        return given["name"], str(target), versions[0].number

    def _resolved(
        self,
        references: tuple[tuple[str, str, int], ...],
        depth: int,
        known: dict[tuple[str, int], ParsedSchema] | None = None,
    ) -> dict[str, ParsedSchema]:
        """Parse all direct and indirect references, each one once."""
        if depth > _MAX_DEPTH:
            raise invalid_schema(f"expected references at most {_MAX_DEPTH} levels deep")
        known = {} if known is None else known
        made = {}
        for name, subject, number in references:
            where = (subject, number)
            if where not in known:
                content = self._referred(*where)
                known[where] = parsed(
                    content.kind, content.schema, self._resolved(content.references, depth + 1, known)
                )
            made[name] = known[where]
        return made

    def _referred(self, subject_text: str, number: int) -> Content:
        subject = subject_of(subject_text)
        for each in self._store.versions(subject, with_deleted=True):
            if each.number == number:
                return self._store.content(subject, each)
        raise invalid_schema(f"the referenced version {number} of subject '{subject}' was permanently deleted")


def _property(content: Content, name: str) -> Any:
    return ((content.metadata or {}).get("properties") or {}).get(name)


def _object(body: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    value = body.get(name)
    if value is not None and not isinstance(value, dict):
        raise invalid_schema(f"expected an object for {name!r}")
    return value


def _number(body: Mapping[str, Any], name: str) -> int | None:
    value = body.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        return None
    if value > MAX_NUMBER:
        raise Refused(422, f"Expected a number of at most {MAX_NUMBER} for {name!r}")
    return value
