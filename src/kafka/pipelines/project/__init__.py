"""Creates the directory of a new pipeline: ``kafka pipeline init``.

The files are those in `template`, which are part of the package. In them, ``@BOOTSTRAP_SERVERS@`` stands for the
addresses of the brokers. To change what a new project contains, change these files; tests/unit/pipelines checks the
pipeline and its test cases.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from kafka.errors import IllegalArgumentError

FILES = ("README.md", "flights.yaml", "flights.test.yaml", "flights.jsonl", "gitignore")
"""The files of the template. A file ``gitignore`` becomes ``.gitignore``."""
_SERVERS = "@BOOTSTRAP_SERVERS@"


def create(directory: str | Path, bootstrap_servers: str = "localhost:9092") -> list[Path]:
    """Create a project with a pipeline, its test cases, sample data and instructions.

    Arguments:
        directory: the directory. It is created if it does not exist.
        bootstrap_servers: the addresses of the brokers for the pipeline.

    Returns the paths of the files. Raises `IllegalArgumentError` if one of them exists already; then nothing is
    written. Raises `OSError` if a file cannot be written.
    """
    directory = Path(directory)
    if directory.exists() and not directory.is_dir():
        raise IllegalArgumentError(f"{directory} is a file: expected a directory")
    template = files(__name__).joinpath("template")
    contents = {
        directory / name.replace("gitignore", ".gitignore"): template.joinpath(name)
        .read_text(encoding="utf-8")
        .replace(_SERVERS, bootstrap_servers)
        for name in FILES
    }
    if existing := [str(path) for path in contents if path.exists()]:
        raise IllegalArgumentError(f"these files exist already: {', '.join(existing)}; name another directory")
    directory.mkdir(parents=True, exist_ok=True)
    for path, content in contents.items():
        path.write_text(content, encoding="utf-8")
    return list(contents)
