"""``kafka completion``: what shells need to complete commands and options."""

import click
from click.shell_completion import get_completion_class


@click.command(name="completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print a script that completes commands, options, topics and groups in a shell.

    \b
    bash:  eval "$(kafka completion bash)"          in ~/.bashrc
    zsh:   eval "$(kafka completion zsh)"           in ~/.zshrc
    fish:  kafka completion fish > ~/.config/fish/completions/kafka.fish
    """
    from kafka.cli.commands import commands

    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(commands, {}, "kafka", "_KAFKA_COMPLETE").source())
