"""The registry's data: schemas by id, subject versions, and settings, all stored in one file.

Each change replaces the whole file; after a crash the file contains either the old or the new state.

A subject may belong to a context: ``:.dev:orders-value`` is the subject orders-value in the context .dev. Each context
has its own ids.
"""

from __future__ import annotations

import hashlib
import json
import logging
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from kafka.broker.disk_files import keep_damaged, replace_file
from kafka.broker.registry.registry_errors import invalid_subject

log = logging.getLogger(__name__)


DEFAULT_CONTEXT = "."
_RESERVED = ("__GLOBAL", "__EMPTY")


class Subject(NamedTuple):
    """A subject in its context. The name is empty for the context itself."""

    context: str
    name: str

    def __str__(self) -> str:
        """Return the text that `subject_of` parses as this subject, whatever the subject's name is."""
        is_plain = self.context == DEFAULT_CONTEXT and subject_of(self.name) == self
        return self.name if is_plain else f":{self.context}:{self.name}"


def subject_of(text: str, default: str = DEFAULT_CONTEXT) -> Subject:
    """Parse a subject name with an optional context; `default` is the context for names without one."""
    if text.startswith(":"):
        context, colon, name = text[1:].partition(":")
        if colon and context.startswith("."):
            return Subject(context, name)
    return Subject(default, text)


def checked_subject(text: str, default: str = DEFAULT_CONTEXT) -> Subject:
    """Parse a subject name under which to register a schema; raises `Refused` if it is invalid."""
    subject = subject_of(text, default)
    if not subject.name or subject.name in _RESERVED or any(ord(each) < 32 for each in str(subject)):
        raise invalid_subject(text)
    return subject


MAX_NUMBER = (1 << 31) - 1
"""The largest version number, and the largest schema id, which occupies four bytes in a record."""


@dataclass(frozen=True)
class Content:
    """A stored schema. The fields after `references` come from the request's JSON and are not interpreted."""

    schema: str
    kind: str = "AVRO"
    references: tuple[tuple[str, str, int], ...] = ()
    metadata: Mapping[str, Any] | None = None
    rule_set: Mapping[str, Any] | None = None

    @property
    def key(self) -> str:
        """A key that is the same for equal schemas."""
        return json.dumps(asdict(self), sort_keys=True)

    @property
    def guid(self) -> str:
        """A UUID that depends only on the schema, so it is the same in every registry."""
        return str(uuid.UUID(bytes=hashlib.md5(self.key.encode(), usedforsecurity=False).digest()))


@dataclass
class Version:
    """A version of a subject."""

    number: int
    schema_id: int
    is_deleted: bool = False


@dataclass
class Context:
    """A context: its schemas by id, and their ids by `Content.key`."""

    schemas: dict[int, Content] = field(default_factory=dict)
    ids: dict[str, int] = field(default_factory=dict)
    next_id: int = 1

    def put(self, schema_id: int, content: Content) -> None:
        """Store a schema under an id."""
        key = content.key
        self.schemas[schema_id] = content
        self.ids[key] = schema_id
        self.next_id = max(self.next_id, schema_id + 1)


class Store:
    """All data of the registry.

    Arguments:
        path: the file; None: keep everything in memory.
        sync: whether changes survive a power failure.
    """

    def __init__(self, path: Path | None, sync: bool = False) -> None:
        self._path = path
        self._sync = sync
        self.contexts: dict[str, Context] = {}
        self.subjects: dict[Subject, list[Version]] = {}
        self.configs: dict[Subject | None, dict[str, Any]] = {}
        self.modes: dict[Subject | None, str] = {}
        if path is not None:
            self._load(path)

    def context(self, name: str) -> Context:
        """Return a context, creating it if necessary."""
        return self.contexts.setdefault(name, Context())

    def versions(self, subject: Subject, with_deleted: bool = False) -> list[Version]:
        """Return the versions of a subject in order."""
        return [each for each in self.subjects.get(subject, ()) if with_deleted or not each.is_deleted]

    def content(self, subject: Subject, version: Version) -> Content:
        """Return the schema of a version."""
        return self.contexts[subject.context].schemas[version.schema_id]

    def users(self, context: str, schema_id: int, with_deleted: bool) -> Iterator[tuple[Subject, Version]]:
        """Yield the versions that use a schema."""
        for subject, versions in self.subjects.items():
            if subject.context == context:
                for each in versions:
                    if each.schema_id == schema_id and (with_deleted or not each.is_deleted):
                        yield subject, each

    def remove(self, subject: Subject, gone: list[Version]) -> None:
        """Permanently remove versions, and the schemas that no other version uses."""
        left = [each for each in self.subjects[subject] if each not in gone]
        if left:
            self.subjects[subject] = left
        else:
            del self.subjects[subject]
        context = self.contexts[subject.context]
        for each in gone:
            if next(self.users(subject.context, each.schema_id, True), None) is None:
                content = context.schemas.pop(each.schema_id, None)
                if content is not None and context.ids.get(content.key) == each.schema_id:
                    del context.ids[content.key]

    # -- the file -----------------------------------------------------------------------------------------------------

    def save(self) -> None:
        """Write the data. If this raises, the file is unchanged, and the data is reloaded from it."""
        if self._path is None:
            return
        try:
            replace_file(self._path, self._written(), sync=self._sync, sync_name=self._sync)
        except BaseException:  # for example, a full disk, or too deeply nested settings
            self._clear()  # Otherwise later requests would see data that would be lost after a restart.
            self._load(self._path)
            raise

    def _written(self) -> bytes:
        state = {
            "schemas": [
                {"context": name, "id": number, **asdict(content)}
                for name, context in self.contexts.items()
                for number, content in context.schemas.items()
            ],
            "next": {name: context.next_id for name, context in self.contexts.items()},
            "versions": [
                {"subject": str(subject), "version": each.number, "id": each.schema_id, "deleted": each.is_deleted}
                for subject, versions in self.subjects.items()
                for each in versions
            ],
            "configs": {_text(subject): config for subject, config in self.configs.items()},
            "modes": {_text(subject): mode for subject, mode in self.modes.items()},
        }
        return json.dumps(state, indent=1).encode()

    def _clear(self) -> None:
        self.contexts, self.subjects, self.configs, self.modes = {}, {}, {}, {}

    def _load(self, path: Path) -> None:
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return
        try:
            self._take(json.loads(data))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            self._clear()
            log.error(
                "%s is damaged (%s: %s); it is kept as %s, and the schema registry starts empty",
                path,
                type(error).__name__,
                error,
                keep_damaged(path).name,
            )

    def _take(self, state: Any) -> None:
        for each in state["schemas"]:
            references = tuple((name, subject, int(version)) for name, subject, version in each["references"])
            content = Content(each["schema"], each["kind"], references, each["metadata"], each["rule_set"])
            self.context(each["context"]).put(each["id"], content)
        for name, number in state["next"].items():
            self.context(name).next_id = number
        for each in state["versions"]:
            subject = subject_of(each["subject"])
            if each["id"] not in self.contexts[subject.context].schemas:
                raise LookupError(f"there is no schema {each['id']} for {subject}")
            self.subjects.setdefault(subject, []).append(Version(each["version"], each["id"], each["deleted"]))
        self.configs = {_subject(text): dict(config) for text, config in state["configs"].items()}
        self.modes = {_subject(text): str(mode) for text, mode in state["modes"].items()}


_EVERYWHERE = "__GLOBAL"


def _text(subject: Subject | None) -> str:
    return _EVERYWHERE if subject is None else f":{subject.context}:{subject.name}"


def _subject(text: str) -> Subject | None:
    return None if text == _EVERYWHERE else subject_of(text)
