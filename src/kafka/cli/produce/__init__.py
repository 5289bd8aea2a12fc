"""``kafka produce``: records from standard input or files.

`command.py` has the options, `lines.py`, `documents.py` and `tables.py` read input of each form and send it,
`sending.py` counts what is sent.
"""

from kafka.cli.produce.command import command

__all__ = ["command"]
