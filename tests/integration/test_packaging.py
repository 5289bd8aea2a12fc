"""What is built for others: the source distribution, and the wheel where nothing could be compiled."""

import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
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
    assert [name for name in expected if name not in names] == []
    assert [name for name in names if name.endswith((".so", ".pyc", ".c"))] == []


def test_a_wheel_in_which_nothing_is_compiled_is_for_every_platform(tree: pathlib.Path) -> None:
    no_cython = tree.parent / "without"
    (no_cython / "Cython").mkdir(parents=True)
    (no_cython / "Cython" / "__init__.py").write_text("raise ImportError('not installed')\n")
    wheel = build(tree, "bdist_wheel", PYTHONPATH=str(no_cython), KAFKA_REQUIRE_COMPILED="")
    assert wheel.name.endswith("-py3-none-any.whl")
    installed = tree.parent / "installed"
    with zipfile.ZipFile(wheel) as archive:
        assert (
            "Root-Is-Purelib: true"
            in archive.read(next(n for n in archive.namelist() if n.endswith("/WHEEL"))).decode()
        )
        archive.extractall(installed)
    for arguments, said in (
        (["doctor"], "several times slower. For the compiled one"),
        (["broker", "--help"], "Usage:"),
    ):
        command = [sys.executable, "-c", "from kafka_columnar import main; main()", *arguments]
        env = {**os.environ, "PYTHONPATH": str(installed), "KAFKA_PURE": ""}
        done = subprocess.run(command, cwd=installed, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert said in done.stdout
