"""``kafka pipeline schema``: the JSON Schema of declaration files, with which editors complete and check keys."""

import json

import click


@click.command(name="schema")
def command() -> None:
    """Print the JSON Schema for the YAML files of pipelines.

    \b
    Editors with a YAML language server complete and check keys, if the file begins with this line:
    # yaml-language-server: $schema=pipeline.schema.json
    after
    kafka pipeline schema > pipeline.schema.json
    """
    from kafka.pipelines import json_schema

    click.echo(json.dumps(json_schema(), indent=2))
