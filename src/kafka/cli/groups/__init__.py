"""``kafka groups``: consumer and share groups, where they are, how far behind, and moving them.

`standing.py` finds what a group has committed and how far that is behind, `listing.py` shows it, `reset.py` moves it,
`removal.py` takes groups, offsets and members away.
"""

import click

from kafka.cli.common_options import AliasedGroup
from kafka.cli.groups.listing import describe, lag, list_groups
from kafka.cli.groups.removal import delete, delete_offsets, remove_members
from kafka.cli.groups.reset import reset, set_offsets

_ALIASES = {"reset-offsets": "reset", "alter-offsets": "set-offsets", "list-offsets": "lag"}


@click.group(name="groups", cls=AliasedGroup, aliases=_ALIASES)
def command() -> None:
    """List, describe, reset and delete consumer groups and share groups."""


for each in (list_groups, describe, lag, reset, set_offsets, delete, delete_offsets, remove_members):
    command.add_command(each)

__all__ = ["command"]
