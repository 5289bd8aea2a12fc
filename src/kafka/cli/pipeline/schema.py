"""``kafka pipeline schema``: the JSON Schema of declaration files, with which editors complete and check keys."""

import json
from pathlib import Path

import click

from kafka.errors import IllegalArgumentError


@click.command(name="schema")
@click.option("--tests", is_flag=True, help="Print the JSON Schema for test files instead.")
@click.option(
    "-o",
    "--output",
    "file",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write to FILE instead of standard output.",
)
def command(tests: bool, file: Path | None) -> None:
    """Print the JSON Schema for the YAML files of pipelines.

    Editors with a YAML language server complete and check the keys of a file that begins with a comment:

    \b
        kafka pipeline schema -o pipeline.schema.json
        # yaml-language-server: $schema=pipeline.schema.json

    The first line is the command that writes the schema; the second one is the first line of the YAML file.
    """
    if tests:
        from kafka.pipelines.testing import json_schema
    else:
        from kafka.pipelines import json_schema

    text = json.dumps(json_schema(), indent=2)
    if file is None:
        click.echo(text)
    elif file.exists() and file.suffix in (".yaml", ".yml"):
        raise IllegalArgumentError(f"{file} is a YAML file: expected the name of a file for the JSON Schema")
    else:
        file.write_text(f"{text}\n", encoding="utf-8")
