"""``kafka groups``: consumer and share groups, their offsets and their lag.

`standing.py` finds committed offsets and lag, `listing.py` shows them, `reset.py` changes offsets, and `removal.py`
deletes groups and offsets and removes members.
"""

import click

from kafka.cli.groups.listing import describe, lag, list_groups
from kafka.cli.groups.removal import delete, delete_offsets, remove_members
from kafka.cli.groups.reset import reset, set_offsets
from kafka.cli.suggestions import CommandGroup

_ALIASES = {"reset-offsets": "reset", "alter-offsets": "set-offsets", "list-offsets": "lag"}


@click.group(name="groups", cls=CommandGroup, aliases=_ALIASES)
def command() -> None:
    """List, describe, reset and delete consumer groups and share groups."""


for each in (list_groups, describe, lag, reset, set_offsets, delete, delete_offsets, remove_members):
    command.add_command(each)

__all__ = ["command"]
