"""``kafka doctor``: what is installed, and which variant of the hot modules is loaded."""

import click

from kafka_columnar.doctor import main


@click.command(name="doctor")
@click.pass_context
def command(context: click.Context) -> None:
    """Show versions, libraries, and whether the hot modules are compiled."""
    context.exit(main([]))
