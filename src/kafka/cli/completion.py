"""``kafka completion``: a completion script for a shell, and the topics and groups that the script requests."""

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
"""Short timeouts, because the user is waiting at the prompt."""
_PLAIN = re.compile(r"[\w./:@+=,%][\w./:@+=,%-]*")
"""Names without shell metacharacters: a group may be called "$(reboot)", and bash inserts completions unquoted."""


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
    """Return the topics that start with a prefix; internal topics only if the prefix starts with an underscore."""
    return _named(given, begin, lambda admin: admin.list_topics(include_internal=begin.startswith("_")))


def groups(given: Mapping[str, Any], begin: str) -> list[str]:
    """Return the groups of any type that start with a prefix."""
    return _named(given, begin, lambda admin: (each["group_id"] for each in admin.list_groups(raise_errors=False)))


def profiles(begin: str) -> list[str]:
    """Return the profiles that start with a prefix."""
    from kafka.cli.profile_file import ProfileFile, profiles_file

    try:
        found = ProfileFile(profiles_file()).profiles
    except (KafkaError, OSError):
        return []
    return sorted(name for name in found if name.startswith(begin) and _PLAIN.fullmatch(name))


def _named(given: Mapping[str, Any], begin: str, ask: "Callable[[KafkaAdminClient], Iterable[str]]") -> list[str]:
    """Return the topic or group names that start with a prefix, except names that need quoting.

    Returns an empty list if the request fails, because a shell cannot show the error.
    """
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)  # log output would appear in the middle of the command that is being typed
    try:
        with Session(given).admin(**_QUICK) as admin:
            return sorted(name for name in ask(admin) if name.startswith(begin) and _PLAIN.fullmatch(name))
    except (KafkaError, OSError, ValueError, ImportError, click.ClickException):
        return []
    finally:
        logging.disable(before)
