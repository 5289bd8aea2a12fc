"""An interrupt (Ctrl-C) at a chosen moment."""

from __future__ import annotations

import dis
import gc
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import kafka

NEVER = 1_000_000
PACKAGE = str(Path(kafka.__file__).parent)
LIBRARY = str(Path(dis.__file__).parent)
"""Python's own modules, in which threads wait."""


class Interrupt:
    """Raises KeyboardInterrupt in this thread where CPython looks for signals, when it does so for the nth time.

    That is where a function is entered, where a loop goes back, and where a call has returned that entered no Python
    function. `where` is the place, None if there were not so many; `looks` counts them.

    Arguments:
        n: from 0; `NEVER`: only count.
        paths: what the files' paths begin with that are meant.
        handler: called instead, as a signal's handler that the program has set.
    """

    def __init__(self, n: int, *paths: str, handler: Callable[[], object] | None = None) -> None:
        assert all(map(os.path.exists, paths)), f"a module has moved: {paths}"
        self._paths = paths
        self._handle = _raise if handler is None else handler
        self._left = n
        self.looks = 0
        self._calls: dict[FrameType, bool] = {}
        self._names: dict[CodeType, dict[int, str]] = {}
        self.where: str | None = None

    def __enter__(self) -> Interrupt:
        self._before = sys.gettrace()
        self._collects = gc.isenabled()
        gc.disable()  # a collection would run finalizers of other tests' objects, which might get the interrupt
        sys.settrace(self._enter)
        return self

    def __exit__(self, *error: object) -> None:
        sys.settrace(self._before)
        if self._collects:
            gc.enable()
        self._calls.clear()  # frames hold what their functions work with

    def _enter(self, frame: FrameType, event: str, arg: Any) -> Any:
        if frame.f_back is not None and frame.f_back in self._calls:
            self._calls[frame.f_back] = False
        if not frame.f_code.co_filename.startswith(self._paths):
            return None
        frame.f_trace = self._step  # before the next line, which does nothing for an untraced frame in Python 3.13
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        self._look(frame)
        return self._step

    def _step(self, frame: FrameType, event: str, arg: Any) -> Any:
        if event == "opcode":
            if self._calls.pop(frame, False):
                self._look(frame)
            name = self._name(frame)
            if name.startswith("JUMP_BACKWARD"):
                self._look(frame)
            if name.startswith("CALL"):
                self._calls[frame] = True
        elif event == "return":
            self._calls.pop(frame, None)
        return self._step

    def _name(self, frame: FrameType) -> str:
        code = frame.f_code
        if code not in self._names:
            self._names[code] = {each.offset: each.opname for each in dis.get_instructions(code)}
        return self._names[code].get(frame.f_lasti, "")

    def _look(self, frame: FrameType) -> None:
        self._left -= 1
        self.looks += 1
        if self._left < 0 and self.where is None:
            self.where = f"{frame.f_code.co_qualname}:{frame.f_lineno}"
            self._handle()


def _raise() -> None:
    raise KeyboardInterrupt


def interrupts(work: Callable[[], object], *paths: str, every: int = 1) -> Iterator[Interrupt]:
    """One for each moment at which ``work``, which is called once for that, may be interrupted; or for a sample.

    Arguments:
        work: what is to be interrupted.
        paths: what the files' paths begin with that are meant.
        every: 5: at the first moment, and each fifth one after it.
    """
    undisturbed = Interrupt(NEVER, *paths)
    with undisturbed:
        work()
    for n in range(0, undisturbed.looks, every):
        yield Interrupt(n, *paths)
