"""What people see: HTML tables and figures in notebooks, progress bars, and sizes as text.

Imports nothing else of the package. `html_tables.py` escapes HTML and makes tables, `progress_bar.py` draws progress
bars, `figures.py` draws lag with matplotlib. A class shows itself in a notebook by its own `_repr_html_`, which imports
these modules when it is called.
"""


def check_matplotlib(caller: str) -> None:
    """Raise `ImportError`, saying what to install, if matplotlib is missing.

    Arguments:
        caller: what draws, as its user calls it.
    """
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise ImportError(f"{caller} needs matplotlib ({error}): pip install 'kafka-columnar[plot]'") from error


def size_text(nbytes: float) -> str:
    """A number of bytes with its unit, such as "1.5 MiB"."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        digits = 0 if unit == "B" else 1
        if abs(round(nbytes, digits)) < 1024:  # compare what is shown: 1,048,575 bytes are 1.0 MiB
            return f"{nbytes:.{digits}f} {unit}"
        nbytes /= 1024
    return f"{nbytes:.1f} TiB"
