"""Whether there is what figures are drawn with."""


def check_matplotlib(caller: str) -> None:
    """Raise `ImportError`, which says what to install, without matplotlib.

    Arguments:
        caller: what draws, as its user calls it.
    """
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise ImportError(f"{caller} needs matplotlib ({error}): pip install 'kafka-columnar[plot]'") from error
