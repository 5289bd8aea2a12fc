"""`kafka schemas` on the embedded schema registry."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from kafka.broker import EmbeddedBroker
from kafka.cli.commands import commands
from kafka.cli.schemas import readable
from unit.cli.cli_support import SETTINGS

pytestmark = pytest.mark.once

_NUMBERS = itertools.count()
INT = {"name": "a", "type": "int"}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with EmbeddedBroker(registry=True) as broker:
        yield broker.registry_url


class SchemasCommand:
    """Runs ``kafka schemas``."""

    def __init__(self, url: str, folder: Path) -> None:
        self._env = {**SETTINGS, "KAFKA_SCHEMA_REGISTRY_URL": url}
        self._folder = folder
        self.subject = f"s{next(_NUMBERS)}-value"

    def run(self, *arguments: str, stdin: str | None = None) -> Result:
        return CliRunner().invoke(commands, ["schemas", *arguments], input=stdin, env=self._env)

    def __call__(self, *arguments: str, stdin: str | None = None) -> str:
        no_titles = [] if "--json" in arguments else ["--no-titles"]
        result = self.run(*arguments, *(no_titles if arguments[0] == "list" else ()), stdin=stdin)
        assert result.exit_code == 0, result.output
        return result.stdout

    def file(self, *fields: Any, name: str = "R") -> str:
        path = self._folder / f"{next(_NUMBERS)}.avsc"
        path.write_text(json.dumps({"type": "record", "name": name, "fields": list(fields)}))
        return str(path)


@pytest.fixture
def schemas(url: str, tmp_path: Path) -> SchemasCommand:
    return SchemasCommand(url, tmp_path)


def test_a_schema_is_registered_listed_and_shown(schemas: SchemasCommand) -> None:
    subject = schemas.subject
    number = schemas("register", subject, schemas.file(INT)).strip()
    again = schemas("register", subject, schemas.file(INT), "--json")
    assert json.loads(again) == {"subject": subject, "id": int(number), "version": 1}
    assert schemas("list", subject) == f"{subject}\t1\t1\t{number}\tAVRO\n"
    shown = schemas("show", subject)
    assert json.loads(shown)["fields"] == [INT]
    assert shown == schemas("show", "--id", number)
    details = json.loads(schemas("show", subject, "--version", "1", "--json"))
    assert (details["id"], details["version"], details["type"], details["references"]) == (int(number), 1, "AVRO", [])


def test_standard_input_and_references(schemas: SchemasCommand) -> None:
    schemas("register", f"{schemas.subject}-inner", schemas.file(INT, name="n.Inner"))
    text = '{"type": "record", "name": "n.R", "fields": [{"name": "i", "type": "Inner"}]}'
    reference = f"n.Inner={schemas.subject}-inner:1"
    schemas("register", schemas.subject, "-", "--reference", reference, stdin=text)
    details = json.loads(schemas("show", schemas.subject, "--json"))
    assert details["references"] == [{"name": "n.Inner", "subject": f"{schemas.subject}-inner", "version": 1}]


def test_compatibility(schemas: SchemasCommand) -> None:
    subject = schemas.subject
    schemas("register", subject, schemas.file(INT))
    assert schemas("check", subject, schemas.file(INT, {"name": "b", "type": "int", "default": 1})) == "compatible\n"
    bad = schemas.file(INT, {"name": "b", "type": "int"})
    result = schemas.run("check", subject, bad)
    assert result.exit_code == 1
    title, reason = result.stdout.splitlines()
    assert title == f"not compatible with version 1 of {subject} (BACKWARD):"
    assert reason.startswith("  READER_FIELD_MISSING_DEFAULT_VALUE: The field 'b' (path '/fields/1')")
    assert "the field 'b' is new and has no default, but older records lack it; add a default" in result.stderr
    result = schemas.run("check", subject, bad, "--version", "1", "--json")
    assert result.exit_code == 1
    answer = json.loads(result.stdout)
    assert (answer["exists"], answer["compatible"]) == (True, False)
    [reason] = answer["reasons"]
    assert reason.startswith("{errorType:'READER_FIELD_MISSING_DEFAULT_VALUE'")
    assert answer["compared"]["version"] == 1
    assert answer["compared"]["compatibility"] == "BACKWARD"
    assert json.loads(answer["compared"]["schema"])["fields"] == [INT]
    result = schemas.run("register", subject, bad)
    assert result.exit_code == 1


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ('{errorType:"A", description:"it\'s so", additionalInfo:\'c\'}', "A: it's so (c)"),
        ("{errorType:'A', description:'the field b', additionalInfo:'b'}", "A: the field b"),
        ("{errorType:'A', description:\"x\"}", "A: x"),
        ("in words of its own", "in words of its own"),
    ],
)
def test_reasons_are_sentences(message: str, shown: str) -> None:
    assert readable(message) == shown


def test_a_subject_that_does_not_exist_has_a_status_of_its_own(schemas: SchemasCommand) -> None:
    schemas("register", schemas.subject, schemas.file(INT))
    misspelt = schemas.subject.replace("-value", "-vlue")
    for version in ((), ("--version", "latest")):
        result = schemas.run("check", misspelt, schemas.file(INT), *version)
        assert (result.exit_code, result.stdout) == (4, "")
        assert f"the subject '{misspelt}' does not exist; did you mean '{schemas.subject}'?" in result.stderr
        assert "--allow-new" in result.stderr
    result = schemas.run("check", misspelt, schemas.file(INT), "--json")
    assert result.exit_code == 4
    assert json.loads(result.stdout) == {"subject": misspelt, "exists": False, "compatible": False, "reasons": []}
    told = schemas("check", misspelt, schemas.file(INT), "--allow-new")
    assert told == f"compatible: the subject {misspelt} is new\n"
    answer = json.loads(schemas("check", misspelt, schemas.file(INT), "--allow-new", "--json"))
    assert (answer["exists"], answer["compatible"]) == (False, True)


def test_other_commands_suggest_a_subject_too(schemas: SchemasCommand) -> None:
    schemas("register", schemas.subject, schemas.file(INT))
    misspelt = schemas.subject.replace("-value", "-vlue")
    for command in ("show", "delete"):
        result = schemas.run(command, misspelt)
        assert result.exit_code == 1
        assert f"there is no subject '{misspelt}'; did you mean '{schemas.subject}'?" in result.stderr


def test_files_that_are_not_schemas_of_their_type(schemas: SchemasCommand, tmp_path: Path) -> None:
    proto, empty, importing = tmp_path / "order.proto", tmp_path / "empty.avsc", tmp_path / "importing.proto"
    json_schema = tmp_path / "order.json"
    json_schema.write_text('{"type": "object", "properties": {"id": {"type": "integer"}}}')
    proto.write_text('// an order\nsyntax = "proto3";\nmessage Order { int64 id = 1; }\n')
    empty.write_text("\n")
    importing.write_text(
        'syntax = "proto3";\nimport "google/protobuf/any.proto"; // import "x.proto";\nimport "o.proto";'
    )
    for command in ("register", "check"):
        for arguments, said in (
            ([str(proto)], f"{proto} is a .proto file, not JSON: use --type PROTOBUF"),
            ([str(empty)], f"expected a schema in {empty}, but it is empty"),
            ([str(json_schema)], f"{json_schema} is a JSON Schema, not an Avro schema: use --type JSON"),
            ([schemas.file(INT), "--type", "PROTOBUF"], "is JSON, not a .proto file: use --type AVRO or --type JSON"),
            ([str(importing), "--type", "PROTOBUF"], f"{importing} imports o.proto: register that file"),
        ):
            result = schemas.run(command, schemas.subject, *arguments)
            assert result.exit_code == 2
            assert said in result.stderr
    assert "--reference o.proto=SUBJECT:VERSION" in result.stderr


def test_deleting(schemas: SchemasCommand) -> None:
    subject = schemas.subject
    schemas("register", subject, schemas.file(INT))
    schemas("register", subject, schemas.file(INT, {"name": "b", "type": "int", "default": 1}))
    assert schemas("delete", subject, "--version", "1") == f"deleted: {subject}, versions 1\n"
    assert schemas("delete", subject, "--yes") == f"deleted: {subject}, versions 2\n"
    assert schemas("list", subject) == ""
    assert schemas("list", subject, "--deleted").startswith(f"{subject}\t2\t2\t")
    assert schemas("delete", subject, "--permanent") == f"deleted: {subject}, versions 1, 2\n"
    assert schemas("list", subject, "--deleted") == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["show"], "SUBJECT or --id"),
        (["show", "s", "--version", "x"], "a number or latest"),
        (["register", "s", "-", "--reference", "x"], "NAME=SUBJECT:VERSION"),
        (["list", "--registry-option", "max.retries=x"], "expects a number"),
        (["list", "--registry-option", "no.such=x"], "'no.such' is not an option"),
        (["list", "--registry", "nowhere:8081"], "or https://HOST; did you mean 'http://nowhere:8081'?"),
    ],
)
def test_wrong_use_is_a_one_line_error(schemas: SchemasCommand, arguments: list[str], said: str) -> None:
    result = schemas.run(*arguments, stdin="")
    assert result.exit_code == 2
    assert said in result.stderr.splitlines()[-1]


def test_registry_errors_are_one_line(schemas: SchemasCommand) -> None:
    result = schemas.run("show", "no-such-subject")
    assert result.exit_code == 1
    assert "there is no subject 'no-such-subject'; see 'kafka schemas list'" in result.stderr


def test_an_unreachable_registry(schemas: SchemasCommand) -> None:
    result = schemas.run("list", "--registry", "http://127.0.0.1:1", "--registry-option", "max.retries=0")
    assert result.exit_code == 3
    assert "GET /subjects at http://127.0.0.1:1: the registry cannot be reached" in result.stderr
    assert "use --registry URL or KAFKA_SCHEMA_REGISTRY_URL to name the schema registry" in result.stderr


def test_an_unreachable_registry_is_reported_once(caplog: pytest.LogCaptureFixture, schemas: SchemasCommand) -> None:
    options = ("--registry", "http://127.0.0.1:1", "--registry-option", "retries.wait.ms=1")
    assert schemas.run("list", *options).exit_code == 3
    assert "cannot be reached" not in caplog.text
