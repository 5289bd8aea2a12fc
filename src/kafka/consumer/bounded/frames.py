"""What a bounded read needs to be a table."""

from importlib import import_module

_INSTALL = {
    "pyarrow": "pip install 'kafka-columnar[arrow]'",
    "pandas": "pip install pandas",
    "polars": "pip install polars",
}


def check_installed(caller: str, *packages: str) -> None:
    """Raise `ImportError`, which says what to install, before anything is read.

    Arguments:
        caller: the method, as its user calls it.
        packages: what it needs: "pyarrow", "pandas", "polars".
    """
    for name in packages:
        try:
            import_module(name)
        except ImportError as error:
            raise ImportError(f"{caller} needs {name} ({error}): {_INSTALL[name]}") from error
