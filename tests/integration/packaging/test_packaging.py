"""What is built for others: the source distribution, and the wheel where nothing could be compiled."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator

import pytest

from conftest import missing

ROOT = pathlib.Path(__file__).resolve().parents[3]
NOT_SOURCE = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "*.so", "*.egg-info", "demo-output")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[pathlib.Path]:
    """A copy of the sources in which to build."""
    copy = tmp_path_factory.mktemp("packaging") / "tree"
    shutil.copytree(ROOT, copy, ignore=NOT_SOURCE)
    yield copy
    shutil.rmtree(copy)


def build(tree: pathlib.Path, *arguments: str, **env: str) -> pathlib.Path:
    """Build something; gives the one file that came out."""
    out = tree.parent / arguments[0]
    command = [sys.executable, "setup.py", "--quiet", *arguments, "--dist-dir", str(out)]
    done = subprocess.run(command, cwd=tree, env={**os.environ, **env}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (file,) = out.iterdir()
    return file


def test_the_source_distribution_has_tests_and_documents(tree: pathlib.Path) -> None:
    with tarfile.open(build(tree, "sdist", "--formats=tar")) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    expected = ["tests/conftest.py", "tests/unit/test_packaging.py", "docs/DESIGN.md", "CONTRIBUTING.md", "Makefile"]
    expected += ["requirements/dev.txt", "scripts/twins.py", "bench/__main__.py", "src/kafka/py.typed", "setup.py"]
    expected += ["src/kafka/legacy/addresses.py", "tests/unit/legacy/test_addresses.py"]
    assert [name for name in expected if name not in names] == []
    assert [name for name in names if name.endswith((".so", ".pyc", ".c"))] == []


@pytest.fixture(scope="module")
def wheel(tree: pathlib.Path) -> pathlib.Path:
    """A wheel, built where nothing could be compiled."""
    no_cython = tree.parent / "without"
    (no_cython / "Cython").mkdir(parents=True)
    (no_cython / "Cython" / "__init__.py").write_text("raise ImportError('not installed')\n")
    return build(tree, "bdist_wheel", PYTHONPATH=str(no_cython), KAFKA_REQUIRE_COMPILED="")


@pytest.fixture(scope="module")
def installed(wheel: pathlib.Path) -> pathlib.Path:
    """The folder that the wheel is unpacked to."""
    folder = wheel.parents[1] / "installed"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def test_a_wheel_in_which_nothing_is_compiled_is_for_every_platform(
    wheel: pathlib.Path, installed: pathlib.Path
) -> None:
    assert wheel.name.endswith("-py3-none-any.whl")
    (about,) = installed.glob("*.dist-info/WHEEL")
    assert "Root-Is-Purelib: true" in about.read_text()
    for arguments, said in (
        (["doctor"], "several times slower. For the compiled one"),
        (["broker", "--help"], "Usage:"),
    ):
        command = [sys.executable, "-c", "from kafka_columnar import main; main()", *arguments]
        env = {**os.environ, "PYTHONPATH": str(installed), "KAFKA_PURE": ""}
        done = subprocess.run(command, cwd=installed, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert said in done.stdout


LISTED = """
import importlib, json, pkgutil, sys
import kafka
from kafka._old_names import OldPaths
from kafka.legacy.addresses import ADDRESSES
found = {module.name for module in pkgutil.walk_packages(kafka.__path__, "kafka.", onerror=lambda name: None)}
if found >= set(ADDRESSES):
    sys.meta_path.remove(OldPaths)
sides = {}
for path in ADDRESSES:
    module = importlib.import_module(path)
    offered = sorted(module.__all__) if hasattr(module, "__all__") else None
    inner = {each.rpartition(".")[2] for each in sys.modules if each.rpartition(".")[0] == path}
    names = {name: repr(type(value)) for name, value in vars(module).items() if name[:2] != "__" and name not in inner}
    sides[path] = [names, offered, module.__doc__, hasattr(module, "__path__")]
print(json.dumps([OldPaths in sys.meta_path, kafka.__file__, sides]))
"""


def test_the_old_paths_are_files_in_a_wheel_with_the_names_that_they_have_in_the_tree(
    tree: pathlib.Path, installed: pathlib.Path
) -> None:
    sides = []
    for folder, served in ((tree / "src", True), (installed, False)):
        env = {**os.environ, "PYTHONPATH": str(folder)}
        command = [sys.executable, "-W", "ignore", "-c", LISTED]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
        *where, names = json.loads(done.stdout)
        assert where == [served, str(folder / "kafka" / "__init__.py")]
        sides.append(names)
    assert sides[0] == sides[1]
    assert len(sides[0]) > 100


PROGRAM = """
import kafka.vendor.six.moves
from kafka import protocol
from kafka.client import SimpleClient
from kafka.common import KafkaError, OffsetsLoadInProgressCode
from kafka.protocol.admin import CreateTopicsRequest_v0
from kafka.util import TOPIC_MAX_LENGTH

client: SimpleClient = KafkaError()  # wrong
length: str = TOPIC_MAX_LENGTH  # wrong
assert issubclass(OffsetsLoadInProgressCode, KafkaError)
codec: str = protocol.CODEC_GZIP  # wrong
request = CreateTopicsRequest_v0(timeout=1)
"""
WRONG = [number for number, line in enumerate(PROGRAM.splitlines(), 1) if "# wrong" in line]


@pytest.fixture
def program(tmp_path: pathlib.Path) -> pathlib.Path:
    """A program with old import paths, for a type checker."""
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    return file


def test_mypy_follows_the_old_paths_of_a_wheel(installed: pathlib.Path, program: pathlib.Path) -> None:
    arguments = ["--config-file=", "--no-site-packages", "--follow-imports=silent", "--ignore-missing-imports"]
    command = [sys.executable, "-m", "mypy", *arguments, f"--cache-dir={program.parent}", str(program)]
    env = {**os.environ, "MYPYPATH": str(installed)}
    done = subprocess.run(command, cwd=program.parent, env=env, capture_output=True, text=True, check=False)
    assert [int(line) for line in re.findall(r"^program\.py:(\d+): error: ", done.stdout, re.MULTILINE)] == WRONG, (
        done.stdout + done.stderr
    )


def test_pyright_follows_the_old_paths_of_a_wheel(installed: pathlib.Path, program: pathlib.Path) -> None:
    if shutil.which("node") is None:
        missing("Node.js, which pyright needs, is not there")
    (program.parent / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [str(installed)]}))
    command = [sys.executable, "-m", "pyright", "--outputjson", "--project", str(program.parent)]
    done = subprocess.run(command, cwd=program.parent, capture_output=True, text=True, check=False)
    if not done.stdout.startswith("{"):
        missing(f"pyright is not to be had: {done.stderr[-500:]}")
    found = [each for each in json.loads(done.stdout)["generalDiagnostics"] if each["severity"] == "error"]
    assert [each["range"]["start"]["line"] + 1 for each in found] == WRONG, found
