"""``kafka pipeline schema``: the JSON Schema of declaration files, with which editors complete and check keys."""

import json

import click


@click.command(name="schema")
@click.option("--tests", is_flag=True, help="Print the JSON Schema for test files instead.")
def command(tests: bool) -> None:
    """Print the JSON Schema for the YAML files of pipelines.

    Editors with a YAML language server complete and check the keys of a file that begins with a comment:

    \b
        kafka pipeline schema > pipeline.schema.json
        # yaml-language-server: $schema=pipeline.schema.json

    The first line is the command, the second one the first line of the YAML file.
    """
    if tests:
        from kafka.pipelines.testing import json_schema
    else:
        from kafka.pipelines import json_schema

    click.echo(json.dumps(json_schema(), indent=2))
