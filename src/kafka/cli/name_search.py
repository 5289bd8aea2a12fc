"""Searches names of topics and groups: by a part of the name, or by a regular expression for the whole name.

``kafka topics list`` and ``kafka groups list`` search with `search_options`; ``kafka consume --regex`` uses
`name_pattern`.
"""

import functools
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from kafka.admin import KafkaAdminClient

R = TypeVar("R")

regex_option = click.option("-r", "--regex", is_flag=True, help="The names are regular expressions for whole names.")


def search_options(command: Callable[..., R]) -> Callable[..., R]:
    """Add the arguments TEXT... and the option ``--regex``; the command gets a predicate of names as ``matches``."""

    @functools.wraps(command)
    def run(*args: Any, texts: tuple[str, ...], regex: bool, **given: Any) -> R:
        return command(*args, matches=matcher(texts, regex), **given)

    return click.argument("texts", nargs=-1, metavar="[TEXT]...")(regex_option(run))


def matcher(texts: Sequence[str], regex: bool) -> Callable[[str], bool]:
    """Return a function that tests a name: whether it contains one of the texts, in any case; every name without texts.

    Raises `click.UsageError` for an invalid regular expression.
    """
    if not texts:
        return lambda name: True
    if regex:
        pattern = name_pattern(texts)
        return lambda name: pattern.fullmatch(name) is not None
    parts = [text.lower() for text in texts]
    return lambda name: any(part in name.lower() for part in parts)


def name_pattern(texts: Sequence[str]) -> re.Pattern[str]:
    """Return a pattern for the whole names that match one of the expressions. Raises `click.UsageError`."""
    for text in texts:
        try:
            re.compile(text)
        except re.error as error:
            raise click.UsageError(f"--regex: expected a regular expression, got {text!r}: {error}") from None
    return re.compile("(?:" + "|".join(f"(?:{text})" for text in texts) + r")\Z")


def matching_topics(admin: "KafkaAdminClient", pattern: re.Pattern[str]) -> list[str]:
    """Return the topics with matching names, without internal ones. Raises `click.ClickException` if there are none."""
    found = sorted(name for name in admin.list_topics(include_internal=False) if pattern.match(name))
    if not found:
        raise click.ClickException("no topic matches the regular expression; see 'kafka topics list'")
    return found
