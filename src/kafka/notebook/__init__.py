"""Live widgets for notebooks (the extra "notebook"): the lag of a group, and the rates of topics.

    import kafka.notebook

    kafka.notebook.LagWidget("billing", bootstrap_servers="localhost:9092")
    kafka.notebook.RateWidget(["orders", "payments"], bootstrap_servers="localhost:9092")

A widget updates itself until `stop()`, `close()`, or the end of the kernel, and pauses while no cell shows it.
`measurements.py` asks the cluster, `sampler.py` does so regularly on a thread of its own, and `live_widgets.py` has the
widgets, whose scripts and styles are in `static`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafka.notebook.live_widgets import LagWidget as LagWidget
    from kafka.notebook.live_widgets import RateWidget as RateWidget

__all__ = ["LagWidget", "RateWidget"]


def __getattr__(name: str) -> Any:
    """Load a widget on first use (PEP 562).

    Raises:
        ImportError: anywidget, the extra "notebook", is not installed.
    """
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        import anywidget  # noqa: F401
    except ImportError as error:
        message = f"kafka.notebook.{name} needs anywidget ({error}): pip install 'kafka-columnar[notebook]'"
        raise ImportError(message) from error
    return getattr(importlib.import_module("kafka.notebook.live_widgets"), name)


def __dir__() -> list[str]:
    """List the widgets, including those not loaded yet."""
    return sorted({*globals(), *__all__})
