"""``kafka completion``: the script for a shell, and the names of topics and groups that the shell then asks for."""

import logging
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import get_completion_class

from kafka.cli.session import Session
from kafka.errors import KafkaError

if TYPE_CHECKING:
    from kafka.admin import KafkaAdminClient

_QUICK = {"bootstrap_timeout_ms": 2_000, "request_timeout_ms": 2_000}
"""Someone has pressed a key, and waits."""
_PLAIN = re.compile(r"[\w./:@+=,%][\w./:@+=,%-]*")
"""Names that mean nothing else to a shell. A group may be called "$(reboot)", and bash puts words in as they are."""


@click.command(name="completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print a script that completes commands, options, topics and groups in a shell.

    \b
    bash:  eval "$(kafka completion bash)"          in ~/.bashrc
    zsh:   eval "$(kafka completion zsh)"           in ~/.zshrc
    fish:  kafka completion fish > ~/.config/fish/completions/kafka.fish
    """
    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(context.find_root().command, {}, "kafka", "_KAFKA_COMPLETE").source())


def topics(given: Mapping[str, Any], begin: str) -> list[str]:
    """The topics that begin so; those that Kafka keeps for itself once an underscore was typed."""
    return _named(given, begin, lambda admin: admin.list_topics(include_internal=begin.startswith("_")))


def groups(given: Mapping[str, Any], begin: str) -> list[str]:
    """The groups, of any kind, that begin so."""
    return _named(given, begin, lambda admin: (each["group_id"] for each in admin.list_groups(raise_errors=False)))


def _named(given: Mapping[str, Any], begin: str, ask: "Callable[[KafkaAdminClient], Iterable[str]]") -> list[str]:
    """The names that the cluster has, but those that would have to be quoted.

    None where it cannot be asked, as a shell has no place to say why.
    """
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)  # a line of the log would stand within what is typed
    try:
        with Session(given).admin(**_QUICK) as admin:
            return sorted(name for name in ask(admin) if name.startswith(begin) and _PLAIN.fullmatch(name))
    except (KafkaError, OSError, ValueError, ImportError, click.ClickException):
        return []
    finally:
        logging.disable(before)
