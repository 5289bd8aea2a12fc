"""Tells that an interface is old, at the line of the program that uses it, and only to those who ask for that."""

from __future__ import annotations

import sys
import warnings
from types import FrameType


def warn_deprecated(text: str) -> None:
    """Issue a `DeprecationWarning` at the innermost line outside this package.

    Python shows deprecation warnings of a script's own lines by default. The output of old programs must not change, so
    for filters by module the warning belongs to this package. ``-W always::DeprecationWarning`` shows it, with the
    program's line.
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
