"""Commands with more than one name: the others are those of kafka-python 3's command line, or what is easily typed."""

from collections.abc import Mapping
from typing import Any

import click


class AliasedGroup(click.Group):
    """A group of commands, some of which have other names too, which its help leaves out.

    Arguments:
        aliases: other names to names.
    """

    def __init__(self, *args: Any, aliases: Mapping[str, str] | None = None, **more: Any) -> None:
        super().__init__(*args, **more)
        self.aliases = dict(aliases or {})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command by any of its names."""
        return super().get_command(ctx, self.aliases.get(cmd_name, cmd_name))
