"""``kafka consume``: records from topics to standard output or a file.

`command.py` has the options, `source.py` where records come from, `selection.py` which are wanted, `formats.py` and
`arrow_formats.py` how they are written. Columns pass through all of them; only what needs records makes some.
"""

from kafka.cli.consume.command import command

__all__ = ["command"]
