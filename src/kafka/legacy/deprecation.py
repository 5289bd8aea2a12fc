"""Issues deprecation warnings that point to the calling program, and are hidden by default."""

from __future__ import annotations

import sys
import warnings
from types import FrameType


def warn_deprecated(text: str) -> None:
    """Issue a `DeprecationWarning` at the innermost line outside this package.

    Python shows deprecation warnings for a script's own lines by default, but the output of old programs must not
    change. Therefore, module filters treat the warning as coming from this package. ``-W always::DeprecationWarning``
    shows it, with the program's line.
    """
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame):
        frame = frame.f_back
    registry = frame.f_globals.setdefault("__warningregistry__", {})
    warnings.warn_explicit(
        text, DeprecationWarning, frame.f_code.co_filename, frame.f_lineno, module=__name__, registry=registry
    )


def _is_ours(frame: FrameType) -> bool:
    name: str = frame.f_globals.get("__name__", "")
    return name.partition(".")[0] == "kafka"
