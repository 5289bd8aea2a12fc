"""click's types of parameters as bases of classes: they take a type argument from click 8.2 on, and none before."""

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    Choice = click.Choice[str]
    ParamType = click.ParamType[Any]
else:
    Choice = click.Choice
    ParamType = click.ParamType
