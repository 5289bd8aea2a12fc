"""A process in which what another system lacks is missing: as much of that system as can be had on this one.

What is missing is taken from the stubs of the standard library that mypy ships.
"""

from __future__ import annotations

import ast
import importlib
import json
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

MODULES = (
    "fcntl",
    "grp",
    "mmap",
    "os",
    "pty",
    "pwd",
    "resource",
    "select",
    "signal",
    "socket",
    "termios",
    "time",
    "tty",
)
"""The modules of the standard library that differ from system to system and that a client or a broker may use."""

HIDING = """
import asyncio, functools, importlib, json, os, selectors, socket, sys
platform, missing, preload = json.loads(sys.argv[1])
for name in preload:
    importlib.import_module(name)
selectors.DefaultSelector = selectors.SelectSelector
socket.socketpair = functools.partial(socket.socketpair, socket.AF_UNIX)  # a pair can be had everywhere
os.process_cpu_count = os.cpu_count  # as it is where a process cannot be bound to processors

def not_implemented(self, *arguments):
    raise NotImplementedError

loops = asyncio.SelectorEventLoop
loops.add_reader = loops.add_writer = loops.remove_reader = loops.remove_writer = not_implemented
loops.add_signal_handler = loops.remove_signal_handler = not_implemented
for module, names in missing.items():
    for name in names:
        delattr(sys.modules[module], name)
    if not names:
        sys.modules[module] = None
sys.platform = platform
"""
"""Comes before a program, whose own arguments follow the first one. Loops are as Windows' are, without readers."""


def hiding_arguments(platform: str, program: str, preload: tuple[str, ...], *arguments: str) -> list[str]:
    """The command that runs a program where what `platform` lacks is hidden from it.

    Arguments:
        platform: as `sys.platform` says there.
        program: the text of the program; it finds its arguments from ``sys.argv[2]`` on.
        preload: libraries that are imported before, with the help of what is hidden then.
        arguments: of the program.
    """
    missing = {module: missing_names(module, platform) for module in MODULES}
    told = json.dumps([platform, missing, ["asyncio", "multiprocessing", "subprocess", "tempfile", *MODULES, *preload]])
    return [sys.executable, "-c", HIDING + program, told, *arguments]


def missing_names(module: str, platform: str) -> list[str]:
    """What a module has here and not on `platform`, in order; nothing where all of it is missing."""
    there = _stub_names(module, platform)
    if not there:
        return []
    only_here = _stub_names(module, sys.platform) - there
    return sorted(name for name in only_here if hasattr(importlib.import_module(module), name))


def _stub_names(module: str, platform: str) -> set[str]:
    mypy = find_spec("mypy")
    if mypy is None or mypy.origin is None:
        raise ModuleNotFoundError("mypy, whose stubs say what a system has, is not installed", name="mypy")
    stubs = Path(mypy.origin).parent / "typeshed" / "stdlib"
    file = next(each for each in (stubs / f"{module}.pyi", stubs / module / "__init__.pyi") if each.exists())
    return {name for name in _names(ast.parse(file.read_text()).body, platform) if not name.startswith("_")}


def _names(body: list[ast.stmt], platform: str) -> Iterator[str]:
    """The names that statements of a stub bind on a platform."""
    for node in body:
        match node:
            case ast.If():
                yield from _names(node.body if _holds(node.test, platform) else node.orelse, platform)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                yield name
            case ast.ImportFrom(module=origin) if origin not in ("typing", "typing_extensions"):
                yield from (alias.asname for alias in node.names if alias.asname)
            case _:
                pass


def _holds(test: ast.expr, platform: str) -> bool:
    """What an expression of a stub about `sys.platform` and `sys.version_info` comes to."""
    names = {"sys": type("System", (), {"platform": platform, "version_info": sys.version_info})}
    return bool(eval(compile(ast.Expression(test), "stub", "eval"), {"__builtins__": {}}, names))
