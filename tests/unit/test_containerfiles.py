"""The container files of `deploy` parse, and name paths, extras, commands and options that exist."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest
from scripts.containers.containerfile import ContainerfileError, Stage, parse
from scripts.containers.stages import ROOT, copy, is_ignored

from kafka.cli.commands import commands

pytestmark = pytest.mark.once

FILES = sorted((ROOT / "deploy").glob("*.Containerfile"))


def check(arguments: list[str]) -> dict[str, object]:
    """The parameters of a command, which is not run. Raises click's errors."""
    command: click.Command = commands
    context = click.Context(commands)
    while isinstance(command, click.Group):
        _, found, arguments = command.resolve_command(context, arguments)
        assert found is not None
        context, command = click.Context(found, parent=context), found
    return command.make_context(command.name, list(arguments), parent=context.parent).params


def test_there_are_files_for_the_broker_and_the_ui() -> None:
    assert [path.name for path in FILES] == ["broker.Containerfile", "ui.Containerfile"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_is_complete(path: Path) -> None:
    build, last = parse(path)
    assert build.base == last.base
    assert re.fullmatch(r"docker\.io/library/python:3\.\d+\.\d+-slim-\w+", last.base), "not pinned"
    user = last.last("USER")
    assert user is not None
    assert user.text == "10001:10001"
    assert [step.name for step in last.steps].index("USER") < len(last.steps) - 2
    stop = last.last("STOPSIGNAL")
    assert stop is not None
    assert stop.text == "SIGTERM"
    for name in ("ENTRYPOINT", "CMD", "HEALTHCHECK"):
        step = last.last(name)
        assert step is not None
        assert step.text.removeprefix("CMD ").startswith("["), f"{name} would start a shell, which gets the signals"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_a_file_copies_and_installs_exists(path: Path) -> None:
    build, last = parse(path)
    copied = [word for step in build.steps if step.name == "COPY" for word in step.words()[:-1]]
    assert "src" in copied
    for name in copied:
        assert (ROOT / name).exists(), name
        assert not is_ignored(name), f"{name} is left out by .dockerignore"
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for step in build.steps:
        for named in re.findall(r"/source\[([\w,-]+)\]", step.text):
            assert set(named.split(",")) <= extras.keys()
    assert [step.options["from"] for step in last.steps if step.name == "COPY"] == [build.name]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_a_file_copies_is_enough_to_build_the_package(path: Path, tmp_path: Path) -> None:
    for step in parse(path)[0].steps:
        if step.name == "COPY":
            copy(step, tmp_path, "/", {})
    command = [sys.executable, "setup.py", "--quiet", "--name", "--long-description"]
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "KAFKA_PURE": "1"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "kafka-columnar"
    assert "# kafka-columnar" in done.stdout


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_commands_of_a_file_are_ours(path: Path) -> None:
    last = parse(path)[-1]
    assert last.command()[0] == last.health_check()[0] == "kafka"
    check(last.health_check()[1:])
    volume, exposed = last.last("VOLUME"), last.last("EXPOSE")
    assert exposed is not None
    if path.name.startswith("broker"):
        given = check(last.command()[1:])
        assert volume is not None
        assert (str(given["data_dir"]), given["port"]) == (volume.text, int(exposed.text))
    else:
        assert f"0.0.0.0:{exposed.text}" in last.command()
        options = {name for each in commands.get_command(click.Context(commands), "ui").params for name in each.opts}  # type: ignore[union-attr]
        assert {each for each in last.command() if each.startswith("--")} <= options
    assert any(exposed.text in word for word in last.health_check())


def test_only_what_a_build_needs_is_sent_to_it() -> None:
    for name in (
        ".git",
        ".venv/bin/python",
        "build/x",
        "tests/conftest.py",
        "src/kafka/a.so",
        "src/kafka/x/__pycache__",
    ):
        assert is_ignored(name), name
    for name in ("src/kafka/__init__.py", "src/kafka/ui/static/style.css", "pyproject.toml", "requirements/dev.txt"):
        assert not is_ignored(name), name


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("RUN true", "line 1: RUN before the first FROM"),
        ("FROM a\nADD x y", "line 2: ADD is not among"),
        ("FROM a B c d", "expected FROM IMAGE AS NAME"),
        ("# nothing", "has no FROM"),
    ],
)
def test_what_is_not_supported_is_an_error(text: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "f").write_text(text)
    with pytest.raises(ContainerfileError, match=problem):
        parse(tmp_path / "f")


def test_lines_options_and_lists(tmp_path: Path) -> None:
    (tmp_path / "f").write_text('FROM a AS b\nRUN one \\\n && two\nCOPY --from=b x y\nCMD ["k", "a b"]\n')
    (stage,) = parse(tmp_path / "f")
    run, copy, command = stage.steps
    assert (run.text.split(), copy.options, command.words()) == (["one", "&&", "two"], {"from": "b"}, ["k", "a b"])
    assert isinstance(stage, Stage)
    with pytest.raises(ContainerfileError, match="HEALTHCHECK"):
        stage.health_check()
