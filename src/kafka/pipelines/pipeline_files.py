"""Reads pipelines from files: YAML files, and Python files that declare a `Pipeline`.

`load_file` chooses by the name of the file. A Python file is executed until it ends, or until it runs its pipeline, so
commands can look at the pipeline of a program without running it.
"""

from __future__ import annotations

import contextlib
import sys
import traceback
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from kafka.pipelines.declaration import Declaration, InvalidDeclaration
from kafka.pipelines.pipeline import Pipeline
from kafka.pipelines.program_runs import PipelineFound, reading
from kafka.pipelines.yaml_file import load, text_of

SUFFIX = ".py"
"""The end of the names of Python files; all other files contain YAML."""


class LoadedFile(NamedTuple):
    """The pipeline in a file.

    Arguments:
        declaration: its declaration.
        function: the query if it is a Python function; otherwise None.
    """

    declaration: Declaration
    function: Callable[..., Any] | None


def load_file(path: str | Path) -> LoadedFile:
    """Read the pipeline in a file.

    Arguments:
        path: a YAML file, or a Python file whose name ends with ``.py``.

    Raises an `InvalidDeclaration` whose message has a line for each problem.
    """
    path = Path(path)
    if path.suffix != SUFFIX:
        return LoadedFile(load(path), None)
    pipeline = load_program(path)
    try:
        return LoadedFile(pipeline.declaration, pipeline.function)
    except InvalidDeclaration as error:
        raise InvalidDeclaration("\n".join(f"{path}: {line}" for line in str(error).split("\n"))) from error


def load_program(path: str | Path) -> Pipeline:
    """Return the pipeline that a Python file declares.

    The file is executed as a module with its own name, so code under ``if __name__ == "__main__":`` does not run. Its
    directory is in `sys.path`, as for ``python FILE``. A call of `run`, `start`, `replay` or `backfill` ends the
    execution, and its pipeline is the result.

    Arguments:
        path: the Python file.

    Raises `InvalidDeclaration` if the file cannot be executed, or does not declare exactly one pipeline.
    """
    path = Path(path)
    text = text_of(path)
    with _module(path) as module, reading():
        try:
            exec(compile(text, str(path), "exec"), vars(module))
        except PipelineFound as reached:
            pipeline: Pipeline = reached.pipeline
            return pipeline
        except (Exception, SystemExit) as error:
            raise InvalidDeclaration(_failure(path, error)) from error
    found = {id(each): (name, each) for name, each in vars(module).items() if isinstance(each, Pipeline)}
    if len(found) == 1:
        return next(iter(found.values()))[1]
    names = ", ".join(name for name, _ in found.values())
    expected = f"{path}: expected a variable that contains the Pipeline"
    raise InvalidDeclaration(
        f"{expected}, got several: {names}; declare one pipeline in each file" if found else f"{expected}, got none"
    )


@contextlib.contextmanager
def _module(path: Path) -> Iterator[types.ModuleType]:
    """Provide the module in which a file is executed.

    It is among the imported modules only inside the block. So Spark sends functions of the file to its workers by
    value, like those of a program: the workers cannot import the file.
    """
    name = path.stem if path.stem not in sys.modules else f"pipeline_{path.stem}"
    module = types.ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module
    directory = str(path.absolute().parent)
    if directory not in sys.path:
        sys.path.insert(0, directory)
    try:
        yield module
    finally:
        sys.modules.pop(name, None)


def _failure(path: Path, error: BaseException) -> str:
    """Describe the error with which a file ended, in lines that begin with the file and the line in it."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return f"{path}:{error.lineno}: not Python: {error.msg}"
    own = [each.lineno for each in traceback.extract_tb(error.__traceback__) if each.filename == str(path)]
    place = f"{path}:{own[-1]}" if own else str(path)
    kind = "" if isinstance(error, InvalidDeclaration) else f"{type(error).__name__}: "
    return "\n".join(f"{place}: {kind}{line}" for line in str(error).split("\n"))
