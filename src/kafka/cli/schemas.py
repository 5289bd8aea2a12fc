"""``kafka schemas``: the schemas in a schema registry, and the reasons why a schema is incompatible."""

import re
from collections.abc import Container, Sequence
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import click

from kafka.cli.command_output import Output, note
from kafka.cli.common_options import AnyCase, WholeNumber, confirm, yes_option
from kafka.cli.failures import NOT_THERE
from kafka.cli.registry_options import NO_SUBJECT, with_registry
from kafka.cli.schema_files import imported_names, is_json, is_json_schema, is_proto
from kafka.cli.suggestions import CommandGroup
from kafka.config.option import nearest

if TYPE_CHECKING:
    from kafka.schema_registry import RegisteredSchema, Schema, SchemaReference, SchemaRegistryClient

_TYPES = ("AVRO", "JSON", "PROTOBUF")
_LATEST = "latest"
_VERSION = click.option(
    "--version", metavar="VERSION", default=_LATEST, show_default=True, help="Version number, or latest."
)


class NoSubjectError(click.ClickException):
    """Raised by ``kafka schemas check`` if the subject does not exist, which is not the same as incompatible."""

    exit_code = NOT_THERE


@click.group(name="schemas", cls=CommandGroup)
def command() -> None:
    """List, show, register, check and delete schemas in a schema registry."""


@command.command(name="list")
@click.argument("prefix", required=False)
@click.option("--deleted", is_flag=True, help="Include deleted subjects.")
@with_registry
def list_schemas(registry: "SchemaRegistryClient", output: Output, prefix: str | None, deleted: bool) -> None:
    """List subjects and their latest versions. PREFIX limits the list to subjects that start with it."""
    rows = []
    for subject in registry.get_subjects(deleted=deleted):
        if prefix is None or subject.startswith(prefix):
            versions = registry.get_versions(subject, deleted=deleted)
            newest = registry.get_version(subject, versions[-1], deleted=deleted)
            rows.append({"subject": subject, "versions": len(versions), **_named(newest)})
    output.table(rows, ["subject", "versions", "version", "id", "type"])


@command.command()
@click.argument("subject", required=False)
@_VERSION
@click.option(
    "--id", "schema_id", type=WholeNumber(0), metavar="ID", help="Show the schema with this id instead of SUBJECT."
)
@click.option("--deleted", is_flag=True, help="Include deleted versions.")
@with_registry
def show(
    registry: "SchemaRegistryClient",
    output: Output,
    subject: str | None,
    version: str,
    schema_id: int | None,
    deleted: bool,
) -> None:
    """Show the schema of SUBJECT, or the one with --id."""
    from kafka.formats.registry.schema_objects import readable

    if (subject is None) == (schema_id is None):
        raise click.UsageError("expected SUBJECT or --id")
    if subject is None:
        schema = registry.get_schema(schema_id or 0)
        details: dict[str, Any] = {"id": schema_id, "type": schema.schema_type}
    else:
        found = registry.get_version(subject, _version(version), deleted=deleted)
        schema, details = found.schema, {"subject": subject, **_named(found)}
    if output.as_json:
        references = [each.to_dict() for each in schema.references or ()]
        output.data({**details, "references": references, "schema": schema.schema_str})
    else:
        click.echo(readable(schema))


def _schema_options(command: Any) -> Any:
    """Add the options for a schema's file, type and references."""
    for option in (
        click.option(
            "--reference",
            "references",
            multiple=True,
            metavar="NAME=SUBJECT:VERSION",
            help="Schema that FILE refers to, by the name used there; repeatable.",
        ),
        click.option(
            "--type", "kind", type=AnyCase(_TYPES), default="AVRO", show_default=True, help="Type of the schema."
        ),
        click.argument("file", type=click.File(encoding="utf-8")),
        click.argument("subject"),
    ):
        command = option(command)
    return command


@command.command()
@_schema_options
@click.option("--normalize", is_flag=True, help="Let the registry normalize the schema.")
@with_registry
def register(
    registry: "SchemaRegistryClient",
    output: Output,
    subject: str,
    file: IO[str],
    kind: str,
    references: tuple[str, ...],
    normalize: bool,
) -> None:
    """Register the schema in FILE (- for standard input) as the next version of SUBJECT; print its id."""
    made = registry.register_schema_full_response(subject, _schema(file, kind, references), normalize)
    output.done(str(made.schema_id), {"subject": subject, "id": made.schema_id, "version": made.version})


@command.command()
@_schema_options
@click.option(
    "--version", help="Compare with this version, a number or latest. [default: by the subject's compatibility level]"
)
@click.option("--allow-new", is_flag=True, help="Accept any schema if the subject does not exist.")
@with_registry
def check(
    registry: "SchemaRegistryClient",
    output: Output,
    subject: str,
    file: IO[str],
    kind: str,
    references: tuple[str, ...],
    version: str | None,
    allow_new: bool,
) -> None:
    """Check whether the schema in FILE (- for standard input) is compatible with SUBJECT.

    \b
    Exit statuses:
    0    the schema is compatible; with --allow-new, also if the subject does not exist
    1    it is not compatible, or the check failed
    2    FILE or an option is wrong
    3    the schema registry does not respond
    4    the subject does not exist
    """

    from kafka.formats.registry.refusals import explained

    schema, wanted = _schema(file, kind, references), None if version is None else _version(version)
    exists = _exists(registry, subject)
    messages = registry.compatibility_errors(subject, schema, wanted) if exists or version is None else []
    told = verdict(messages)
    is_compatible = not told.reasons and (exists or allow_new)
    if output.as_json:
        compared = {name: each for name, each in told._asdict().items() if name != "reasons" and each is not None}
        answer = {"subject": subject, "exists": exists, "compatible": is_compatible, "reasons": told.reasons}
        output.data(answer | ({"compared": compared} if compared else {}))
    elif is_compatible:
        click.echo("compatible" if exists else f"compatible: the subject {subject} is new")
    elif told.reasons:
        against = f" with version {told.version}" if told.version is not None else ""
        setting = f" ({told.compatibility})" if told.compatibility else ""
        click.echo(f"not compatible{against} of {subject}{setting}:" if against else f"not compatible{setting}:")
        for reason in told.reasons:
            click.echo(f"  {readable(reason)}")
        if advice := explained(" ".join(messages)):
            note(advice)
    if not exists and not allow_new:
        hint = nearest(subject, registry.get_subjects())
        raise NoSubjectError(f"the subject {subject!r} does not exist{hint} (--allow-new accepts new subjects)")
    if not is_compatible:
        raise click.exceptions.Exit(1)


@command.command()
@click.argument("subject")
@click.option("--version", metavar="VERSION", help="Delete only this version, a number or latest.")
@click.option(
    "--permanent", is_flag=True, help="Delete permanently; the schema must already be deleted without this option."
)
@yes_option
@with_registry
def delete(
    registry: "SchemaRegistryClient", output: Output, subject: str, version: str | None, permanent: bool, yes: bool
) -> None:
    """Delete SUBJECT, or one version of it."""
    what = f"subject {subject}" if version is None else f"version {version} of subject {subject}"
    confirm(f"Delete {what}{' permanently' if permanent else ''}?", yes)
    if version is None:
        gone = registry.delete_subject(subject, permanent)
    else:
        gone = [registry.delete_version(subject, _version(version), permanent)]
    listed = ", ".join(map(str, gone))
    output.done(f"deleted: {subject}, versions {listed}", {"subject": subject, "versions": gone})


def _named(found: "RegisteredSchema") -> dict[str, Any]:
    return {"version": found.version, "id": found.schema_id, "type": found.schema.schema_type}


def _version(text: str) -> Any:
    """Parse a version number, or "latest". Raises `click.UsageError`."""
    if text == _LATEST:
        return text
    if not text.isdecimal():
        raise click.UsageError(f"--version expects a number or latest, got {text!r}")
    return int(text)


def _exists(registry: "SchemaRegistryClient", subject: str) -> bool:
    from kafka.schema_registry import SchemaRegistryError

    try:
        registry.get_versions(subject)
    except SchemaRegistryError as error:
        if error.error_code != NO_SUBJECT:
            raise
        return False
    return True


def _schema(file: IO[str], kind: str, references: tuple[str, ...]) -> "Schema":
    """Read a schema from a file. Raises `click.UsageError` for a file that cannot be a schema of that type."""
    from kafka.schema_registry import Schema

    named = [_reference(each) for each in references]
    try:
        text = file.read()
    except UnicodeDecodeError as error:
        raise click.UsageError(f"{file.name} is not text in UTF-8: convert it, or name another file") from error
    if not text.strip():
        raise click.UsageError(f"expected a schema in {file.name}, but it is empty")
    if kind.upper() == "PROTOBUF":
        if is_json(text):
            raise click.UsageError(f"{file.name} is JSON, not a .proto file: use --type AVRO or --type JSON")
    elif is_proto(text):
        raise click.UsageError(f"{file.name} is a .proto file, not JSON: use --type PROTOBUF")
    if kind.upper() == "AVRO" and is_json_schema(text):
        raise click.UsageError(f"{file.name} is a JSON Schema, not an Avro schema: use --type JSON")
    if kind.upper() == "PROTOBUF":
        _check_imports(file.name, text, {each.name for each in named})
    return Schema(text, kind.upper(), named)


def _check_imports(file: str, text: str, named: Container[str | None]) -> None:
    """Raise `click.UsageError` for imports without a reference."""
    from kafka.formats.protobuf.descriptors import is_known

    for name in imported_names(text):
        if name not in named and not is_known(name):
            raise click.UsageError(
                f"{file} imports {name}: register that file under a subject of its own, and give --reference "
                f"{name}=SUBJECT:VERSION"
            )


def _reference(text: str) -> "SchemaReference":
    from kafka.schema_registry import SchemaReference

    name, equals, target = text.partition("=")
    subject, colon, version = target.rpartition(":")
    if not (name and equals and subject and colon and version.isdecimal()):
        raise click.UsageError(f"--reference expects NAME=SUBJECT:VERSION, got {text!r}")
    return SchemaReference(name, subject, int(version))


_REASON = re.compile(
    r"\{errorType: ?(['\"])(?P<kind>.*?)\1, description: ?(['\"])(?P<text>.*?)\3"
    r"(?:, additionalInfo: ?(['\"])(?P<more>.*?)\5)?\}",
    re.DOTALL,
)
_NOTE = re.compile(r"\{(oldSchemaVersion|oldSchema|compatibility|validateFields): ?'?(.*?)'?\}", re.DOTALL)
"""The details that Confluent's registries append to the reasons."""


class Verdict(NamedTuple):
    """The reasons why a schema is incompatible.

    Arguments:
        reasons: the registry's reasons.
        version: the version with which the schema was compared, if the registry reports it.
        schema: the text of that version's schema.
        compatibility: the subject's compatibility level.
    """

    reasons: list[str]
    version: int | None = None
    schema: str | None = None
    compatibility: str | None = None


def verdict(messages: Sequence[str]) -> Verdict:
    """Separate the reasons in a registry's messages from the details."""
    reasons, notes = [], {}
    for each in messages:
        found = _NOTE.fullmatch(each)
        if found is None:
            reasons.append(each)
        else:
            notes[found[1]] = found[2]
    number = notes.get("oldSchemaVersion", "")
    version = int(number) if number.isdecimal() else None
    return Verdict(reasons, version, notes.get("oldSchema"), notes.get("compatibility"))


def readable(reason: str) -> str:
    """Format a reason as a sentence."""
    found = _REASON.fullmatch(reason)
    if found is None:
        return reason
    more = found["more"]
    return f"{found['kind']}: {found['text']}" + (f" ({more})" if more and more not in found["text"] else "")
