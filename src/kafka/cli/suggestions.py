"""Suggestions for misspelt names: of commands, topics, groups and transactional ids.

`CommandGroup` is the class of all groups of commands. `suggesting` adds the most similar name to errors about topics
and groups that do not exist. To suggest another kind of name: a function like `no_topic`, and a case in `suggesting`.
"""

import contextlib
import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from kafka.admin import KafkaAdminClient
    from kafka.errors import GroupIdNotFoundError, KafkaError, UnknownTopicOrPartitionError

_SEEN = "; did you mean "
"""Part of errors that contain a suggestion."""


class CommandGroup(click.Group):
    """A group whose error for an unknown command suggests the most similar name, or lists the names.

    Arguments:
        aliases: a mapping of alias to command name; aliases are kafka-python 3's names, or likely misspellings. They
            are not listed in the help.
    """

    def __init__(self, *args: Any, aliases: Mapping[str, str] | None = None, **more: Any) -> None:
        super().__init__(*args, **more)
        self.aliases = dict(aliases or {})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command with this name or alias."""
        return super().get_command(ctx, self.aliases.get(cmd_name, cmd_name))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """See `click.Group`."""
        name = args[0]
        if name.startswith("-") or ctx.resilient_parsing or self.get_command(ctx, name) is not None:
            return super().resolve_command(ctx, args)
        names = self.list_commands(ctx)
        close = difflib.get_close_matches(name.lower(), [*names, *self.aliases], n=1, cutoff=0.5)
        if close:
            told = f"Did you mean {self.aliases.get(close[0], close[0])!r}?"
        else:
            told = f"The commands are {', '.join(names)}."
        ctx.fail(f"No such command {name!r}. {told}")


@contextlib.contextmanager
def suggesting(
    admin: "KafkaAdminClient", topics: Iterable[str] = (), groups: Iterable[str] = (), ids: Iterable[str] = ()
) -> Iterator[None]:
    """Let errors about names that do not exist suggest the most similar name.

    Arguments:
        admin: the client, which lists the existing names after an error.
        topics: the topics that the block uses.
        groups: the groups that the block uses.
        ids: the transactional ids that the block uses.
    """
    from kafka.errors import GroupIdNotFoundError, TransactionalIdNotFoundError, UnknownTopicOrPartitionError

    try:
        yield
    except (UnknownTopicOrPartitionError, GroupIdNotFoundError, TransactionalIdNotFoundError) as error:
        if _SEEN in str(error):
            raise
        makers: Mapping[type[KafkaError], tuple[Iterable[str], Callable[[Any, str], KafkaError | None]]] = {
            UnknownTopicOrPartitionError: (topics, no_topic),
            GroupIdNotFoundError: (groups, no_group),
            TransactionalIdNotFoundError: (ids, no_transaction),
        }
        names, make = next(each for kind, each in makers.items() if isinstance(error, kind))
        better = None
        with contextlib.suppress(Exception):  # the original error says more than one of the listing
            better = next(filter(None, (make(admin, name) for name in names)), None)
        if better is None:
            raise
        raise better from error


def no_topic(admin: "KafkaAdminClient", name: str) -> "UnknownTopicOrPartitionError | None":
    """Return the error for a topic that does not exist; None if it exists. Raises the errors of `list_topics`."""
    from kafka.errors import UnknownTopicOrPartitionError

    text = missing("topic", name, admin.list_topics(), "see 'kafka topics list'")
    return UnknownTopicOrPartitionError(text) if text else None


def no_group(admin: "KafkaAdminClient", name: str) -> "GroupIdNotFoundError | None":
    """Return the error for a group that does not exist; None if it exists. Raises the errors of `list_groups`."""
    from kafka.errors import GroupIdNotFoundError

    known = [str(each["group_id"]) for each in admin.list_groups()]
    text = missing("group", name, known, "see 'kafka groups list'")
    return GroupIdNotFoundError(text) if text else None


def no_transaction(admin: "KafkaAdminClient", name: str) -> "KafkaError | None":
    """Return the error for an unknown transactional id; None if it exists. Raises those of `list_transactions`."""
    from kafka.errors import TransactionalIdNotFoundError

    known = [each.transactional_id for listed in admin.list_transactions().values() for each in listed]
    text = missing("transactional id", name, known, "see 'kafka transactions list'")
    return TransactionalIdNotFoundError(text) if text else None


def missing(kind: str, name: str, known: Iterable[str], otherwise: str) -> str:
    """Return the text for a name that does not exist, with the most similar one; "" if it exists.

    Arguments:
        kind: what the name stands for.
        name: the name.
        known: the existing names.
        otherwise: the advice if no name is similar.
    """
    from kafka.config.option import nearest

    known = list(known)
    if name in known:
        return ""
    return f"there is no {kind} {name!r}{nearest(name, known) or f'; {otherwise}'}"
