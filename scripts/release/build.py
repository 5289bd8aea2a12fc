"""Builds the source distribution and wheels, from what git tracks, with the time of the last commit on every file."""

from __future__ import annotations

import functools
import gzip
import io
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

from scripts.release.targets import Target

if TYPE_CHECKING:
    from scripts.release.interpreters import Interpreter

ROOT = Path(__file__).resolve().parents[2]
PURE = {"KAFKA_PURE": "1"}
_COPY_HEADERS = """
import shutil, sys, sysconfig
from pathlib import Path
include = Path(sysconfig.get_path("include"))
parts = (sysconfig.get_config_var("MULTIARCH") or "", include.name)
copied = Path(sys.argv[1]).joinpath(*parts)
if all(parts) and (include.parent / Path(*parts)).is_dir():
    shutil.copytree(include.parent / Path(*parts), copied)
copied.mkdir(parents=True, exist_ok=True)
"""
"""A program that copies headers of Debian's Python into a folder: a cross compiler does not look into /usr/include."""


class BuildError(Exception):
    """Something could not be built; the text says what, and what the tool said."""


def cleaned() -> dict[str, str]:
    """Return the environment without what would change a build, and without what make tells its own commands."""
    left_out = ("PYTHON", "VIRTUAL_ENV", "KAFKA_", "MAKE", "MFLAGS")
    kept = ("KAFKA_COLUMNAR_CACHE",)
    return {name: value for name, value in os.environ.items() if name in kept or not name.startswith(left_out)}


def run(command: list[str], folder: Path, **variables: str) -> str:
    """What a command prints, run in a folder; raises `BuildError`."""
    environment = {**cleaned(), **variables}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildError(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stdout + done.stderr


@functools.cache
def epoch() -> str:
    """The time that files get: of the last commit at the first call, or what SOURCE_DATE_EPOCH says."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    return given or run(["git", "log", "-1", "--format=%ct"], ROOT).strip()


def export(folder: Path) -> Path:
    """Copy the tracked files, as they are in the work tree, into a folder."""
    listed = run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], ROOT)
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def sdist(tree: Path, out: Path) -> Path:
    """Build the source distribution of a tree."""
    raw = out / "raw"
    run([sys.executable, "setup.py", "--quiet", "sdist", "--formats=tar", "--dist-dir", str(raw)], tree)
    (made,) = raw.iterdir()
    target = out / f"{made.name}.gz"
    target.write_bytes(_settled(made.read_bytes()))
    shutil.rmtree(raw)
    return target


def _settled(tar: bytes) -> bytes:
    """The same archive, compressed, without what differs from one build to the next: order, times, owners, modes."""
    plain = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(tar)) as old,
        tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as new,
    ):
        for member in sorted(old.getmembers(), key=lambda each: each.name):
            member.mtime = int(epoch())
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            member.pax_headers = {}
            new.addfile(member, old.extractfile(member) if member.isfile() else None)
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", fileobj=packed, mode="wb", mtime=int(epoch())) as file:
        file.write(plain.getvalue())
    return packed.getvalue()


def unpack(archive: Path, folder: Path) -> Path:
    """Unpack a source distribution; gives its tree."""
    with tarfile.open(archive) as file:
        file.extractall(folder, filter="data")
    (tree,) = folder.iterdir()
    return tree


def pure_wheel(tree: Path, out: Path) -> Path:
    """Build the wheel in which nothing is compiled, from an unpacked source distribution."""
    return _wheel([sys.executable], tree, out, **PURE)


def wheel(tools: Interpreter, tree: Path, out: Path, target: Target) -> Path:
    """Build a compiled wheel for a system with zig, from an unpacked source distribution.

    Arguments:
        tools: a Python of the version that the wheel is for, with setuptools, Cython and ziglang.
        tree: where to build; what was compiled there before is removed.
        out: the folder of the wheel.
        target: the system.
    """
    for left in (tree / "build").glob("*"):
        if left.name != "cython":  # what Cython made of the sources is the same for all
            shutil.rmtree(left)
    version = tools.version.replace(".", "")
    headers = tree / "build" / "headers"
    tools.run(tree, "-c", _COPY_HEADERS, str(headers))
    compiler = f"{tools.python} -m ziglang cc -target {target.triple} -ffile-prefix-map={tree}=. -I{headers}"
    return _wheel(
        tools.command(),
        tree,
        out,
        "--plat-name",
        target.tag,
        CC=compiler,
        LDSHARED=f"{compiler} -shared -Wl,-s" + " -nostdlib" * target.is_musl,
        SETUPTOOLS_EXT_SUFFIX=f".cpython-{version}-{target.suffix}.so",
        KAFKA_REQUIRE_COMPILED="1",
    )


def _wheel(python: list[str], tree: Path, out: Path, *arguments: str, **variables: str) -> Path:
    made = out / "made"
    shutil.rmtree(made, ignore_errors=True)
    command = [*python, "setup.py", "--quiet", "build_ext", "bdist_wheel", "--dist-dir", str(made)]
    run([*command, *arguments], tree, SOURCE_DATE_EPOCH=epoch(), PYTHONHASHSEED="0", **variables)
    (file,) = made.iterdir()
    return Path(shutil.move(file, out / file.name))
