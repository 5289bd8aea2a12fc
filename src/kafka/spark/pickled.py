"""How readers and writers travel to Spark's tasks: so that a task without this package, or with another version of it,
says so.
"""

import pickle
import types
from collections.abc import Mapping
from typing import Any

from kafka.version import DISTRIBUTION_VERSION


def travelling(reader: object, state: Mapping[str, Any]) -> tuple[Any, ...]:
    """What `__reduce__` of a reader or writer gives.

    Spark's pickler takes functions of installed modules by their name, and others with their code. The function that
    makes the object again passes for one of the latter: it has to run where this package is missing. So the state,
    which needs the package, travels as bytes.
    """
    home = type(reader)
    return _TRAVELLER, (home.__module__, home.__qualname__, DISTRIBUTION_VERSION, pickle.dumps(dict(state)))


def _made_again(module: str, name: str, version: str, state: bytes) -> Any:
    import importlib
    import pickle
    import socket
    import sys

    where = f"the Python of this Spark process, {sys.executable} on {socket.gethostname()}"
    try:
        home = getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        lacks = error.name or ""
        package = "kafka-columnar" if lacks.partition(".")[0] == "kafka" else lacks
        raise ImportError(
            f"{package} is not installed in {where}: install it there, or send it along with spark.archives "
            "(see docs/SPARK.md, Deployment)"
        ) from None
    here = importlib.import_module("kafka.version")
    if version != here.DISTRIBUTION_VERSION:
        raise ImportError(
            f"kafka-columnar is {here.DISTRIBUTION_VERSION} in {where}, and {version} in the process "
            "that sent the work: install one version in both"
        )
    made = home.__new__(home)
    made.__dict__.update(pickle.loads(state))
    return made


_TRAVELLER = types.FunctionType(_made_again.__code__, {"__builtins__": __builtins__, "__name__": "__main__"})
_TRAVELLER.__module__ = "__main__"
_TRAVELLER.__qualname__ = _TRAVELLER.__name__ = "_kafka_columnar_made_again"
