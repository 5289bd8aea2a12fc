"""Output for people: HTML tables and figures in notebooks, progress bars, and sizes as text.

This package imports nothing else from `kafka`. `html_tables.py` escapes HTML and makes tables, `progress_bar.py` draws
progress bars, and `figures.py` plots lag with matplotlib. Classes define `_repr_html_` for notebooks, and import these
modules only when this method is called. The web UI and reports consist of `page_elements.py`, `payload_text.py` (keys
and values as text) and `time_charts.py` (SVG).
"""


def check_matplotlib(caller: str) -> None:
    """Raise `ImportError` with installation instructions if matplotlib is missing.

    Arguments:
        caller: the public name of the function or method that draws.
    """
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise ImportError(f"{caller} needs matplotlib ({error}): pip install 'kafka-columnar[plot]'") from error


def size_text(nbytes: float) -> str:
    """Format a number of bytes with a unit, such as "1.5 MiB"."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        digits = 0 if unit == "B" else 1
        if abs(round(nbytes, digits)) < 1024:  # compare the rounded number, to show 1,048,575 bytes as 1.0 MiB
            return f"{nbytes:.{digits}f} {unit}"
        nbytes /= 1024
    return f"{nbytes:.1f} TiB"
