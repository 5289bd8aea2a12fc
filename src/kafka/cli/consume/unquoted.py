"""Finds out that the shell has taken a part of an unquoted ``--where`` condition as a redirection.

In ``kafka consume t --where value.amount > 10`` without quotes, the shell writes the output to the file ``10``, and the
command gets the condition ``value.amount``. A field alone is a condition, so only the file shows the mistake.
"""

import os
import re
import stat

import click

from kafka.cli.command_output import note

_OPERAND = re.compile(r"=.*|[-+]?\d+(\.\d+)?|true|false|null", re.IGNORECASE)
"""Names that hardly anyone gives to a file: what follows ``>`` in a comparison with a number, and after ``>=``."""
_WORD = re.compile(r"\w+")
"""Other names that may be operands: without a file name extension."""


def output_file(descriptor: int = 1) -> str | None:
    """Return the name of the regular file that a descriptor writes to; None if there is none or it is not known."""
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        return os.path.basename(os.readlink(f"/proc/self/fd/{descriptor}"))  # on Linux
    except OSError:
        return None


def check_unquoted(condition: str) -> None:
    """Detect a condition that the shell has split: a field alone, with the output in a file that looks like an operand.

    Raises `click.UsageError` if the file's name is a number or similar. Prints a note if it is a word, because that may
    be a file that the user wants.
    """
    from kafka.filters import FilterError, RecordField

    name = output_file()
    if name is None or not (_OPERAND.fullmatch(name) or _WORD.fullmatch(name)):
        return
    try:
        RecordField(condition)
    except FilterError:
        return
    whole = f'--where "{condition} >{name if name.startswith("=") else f" {name}"}"'
    if _OPERAND.fullmatch(name):
        raise click.UsageError(
            f"--where: expected a condition, found only the field {condition!r}, and the output goes to the file "
            f"{name!r}: the shell has taken '>' as a redirection. Put the whole condition in quotes, such as {whole}, "
            f"and remove the file {name!r}"
        )
    note(
        f"the condition is only the field {condition}, and the output goes to the file {name!r}; if that is a part of "
        f"the condition, put all of it in quotes: {whole}"
    )
