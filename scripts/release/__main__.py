"""All of a release but the upload: ``make release-check``.

Looks over workflows, forms and hooks; builds the source distribution, the pure wheel and, with zig, wheels for Linux
with an old glibc and with musl; builds some of them twice, which has to give the same bytes; has auditwheel and twine
judge them; asks cibuildwheel what it would build, and mypy what is missing on macOS and Windows; installs what can run
here into empty environments, and tries the first commands of the README there; writes a bill of materials and
checksums, and looks for advisories of the pinned packages.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import runpy
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from scripts.pythons import find_interpreter
from scripts.release import build, project, supply_chain, systems, trial
from scripts.release.build import ROOT, BuildError, run
from scripts.release.targets import TARGETS

DISTRIBUTION_VERSION: str = runpy.run_path(str(ROOT / "src" / "kafka" / "version.py"))["DISTRIBUTION_VERSION"]
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
SYSTEMS = {
    "linux": ("manylinux_x86_64", "manylinux_aarch64", "musllinux_x86_64", "musllinux_aarch64"),
    "macos": ("macosx_x86_64", "macosx_arm64"),
    "windows": ("win_amd64",),
}
"""By platform: what cibuildwheel has to build for each Python."""
NEEDED = (
    "tests/conftest.py",
    "docs/DESIGN.md",
    "docs/OPTIONS.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "Makefile",
    "setup.py",
)


def main() -> int:
    """See the module; gives 1 if something is not fit to be published."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where what is built goes")
    parser.add_argument("--pythons", nargs="*", default=VERSIONS, choices=VERSIONS)
    parser.add_argument("--targets", nargs="*", default=list(TARGETS), choices=list(TARGETS))
    arguments = parser.parse_args()
    work = ROOT / "build" / "release"
    shutil.rmtree(work, ignore_errors=True)
    shutil.rmtree(arguments.out, ignore_errors=True)
    arguments.out.mkdir(parents=True)
    try:
        for line in _release(arguments.out, work, arguments.pythons, arguments.targets):
            print(line, flush=True)
    except BuildError as error:
        print(f"not fit to be published: {error}", file=sys.stderr)
        return 1
    return 0


def _release(out: Path, work: Path, versions: list[str], targets: list[str]) -> Iterator[str]:
    """Every step, with what came of it."""
    yield f"version {_checked_version()}"
    yield from project.check()
    source, pure = _plain(out, work / "first")
    again = _plain(work / "again" / "out", work / "again")
    _same([source, pure], list(again))
    yield f"{source.name}, {pure.name}: twice the same bytes"
    _check_contents(source)
    compiled: dict[str, list[Path]] = {}
    tree = build.unpack(source, work / "compiled")
    pythons = {version: find_interpreter(version) for version in versions}
    for version, python in pythons.items():
        if python is None:
            yield f"Python {version} is not on this machine: no wheel built here; cibuildwheel builds it"
            continue
        tools = _tools(python, work / f"tools-{version}")
        for tag in targets:
            made = build.wheel(tools, tree, out, TARGETS[tag])
            compiled.setdefault(version, []).append(made)
            yield f"{made.name}: {_audit(made, tag)}"
            if (version, tag) == (next(iter(compiled)), targets[0]):
                other = build.unpack(source, work / "tree-again")
                _same([made], [build.wheel(tools, other, work / "again" / "out", TARGETS[tag])])
                yield f"{made.name}: twice the same bytes, from another folder"
    everything = [source, pure, *(made for each in compiled.values() for made in each)]
    run([sys.executable, "-m", "twine", "check", "--strict", *map(str, everything)], ROOT)
    yield f"twine finds nothing wrong with {len(everything)} files"
    yield f"cibuildwheel would build {_identifiers()} wheels"
    yield from map(systems.check, systems.SYSTEMS)
    yield from _trials(pure, compiled, pythons, work)
    first = next(python for python in pythons.values() if python is not None)
    yield supply_chain.bill(trial.install(first, pure, work / "bill"), out, DISTRIBUTION_VERSION)
    yield supply_chain.audit(sorted((ROOT / "requirements").glob("*.txt")))
    yield supply_chain.checksums(out)


def _plain(out: Path, work: Path) -> tuple[Path, Path]:
    out.mkdir(parents=True, exist_ok=True)
    source = build.sdist(build.export(work / "export"), out)
    return source, build.pure_wheel(build.unpack(source, work / "tree"), out)


def _same(one: list[Path], other: list[Path]) -> None:
    for first, second in zip(one, other, strict=True):
        if hashlib.sha256(first.read_bytes()).digest() != hashlib.sha256(second.read_bytes()).digest():
            raise BuildError(f"two builds of {first.name} differ: compare {first} and {second}")


def _checked_version() -> str:
    """The distribution's semantic version, and its section of the changelog."""
    if not re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", DISTRIBUTION_VERSION):
        raise BuildError(f"{DISTRIBUTION_VERSION} is no semantic version (kafka/version.py)")
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    tagged = run(["git", "tag", "--points-at", "HEAD"], ROOT).split()
    if tagged and (f"v{DISTRIBUTION_VERSION}" not in tagged or headings[0].strip("[]") != DISTRIBUTION_VERSION):
        raise BuildError(f"the tag {tagged[0]}, version {DISTRIBUTION_VERSION} and changelog {headings[0]} differ")
    return f"{DISTRIBUTION_VERSION}, the changelog begins with {headings[0]}"


def _check_contents(source: Path) -> None:
    names = run([sys.executable, "-m", "tarfile", "--list", str(source)], ROOT).split()
    inside = {name.partition("/")[2] for name in names}
    if missing := [name for name in NEEDED if name not in inside]:
        raise BuildError(f"{source.name} lacks {', '.join(missing)}")


def _tools(python: str, folder: Path) -> str:
    """An environment of a Python with what builds wheels; gives its interpreter."""
    run([python, "-m", "venv", str(folder)], ROOT)
    inside = str(folder / "bin" / "python")
    pins = [*_pins("dev.txt", "cython", "setuptools", "wheel"), *_pins("release.txt", "ziglang")]
    run([inside, "-m", "pip", "install", "--quiet", "--no-deps", *pins], ROOT)
    return inside


def _pins(file: str, *names: str) -> list[str]:
    lines = (ROOT / "requirements" / file).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.partition("==")[0].lower() in names]


def _audit(made: Path, tag: str) -> str:
    """Have auditwheel look which libraries and symbols a wheel needs."""
    said = " ".join(run([sys.executable, "-m", "auditwheel", "show", str(made)], ROOT).split())
    if f'"{tag}"' not in said and f'"{tag.replace("_2_17_", "2014_")}"' not in said and "manylinux_2_5" not in said:
        raise BuildError(f"auditwheel does not find {made.name} to be {tag}: {said}")
    return "auditwheel agrees"


def _identifiers() -> int:
    """Ask cibuildwheel what its configuration makes it build, and compare with what is wanted."""
    found = []
    for platform, kinds in SYSTEMS.items():
        command = [sys.executable, "-m", "cibuildwheel", "--print-build-identifiers", "--platform", platform]
        given = run([*command, "--archs", "all"], ROOT).split()
        wanted = [f"cp{version.replace('.', '')}-{kind}" for version in VERSIONS for kind in kinds]
        if sorted(given) != sorted(wanted):
            raise BuildError(f"cibuildwheel would build {given} on {platform}, not {wanted}")
        found += given
    return len(found)


def _trials(pure: Path, compiled: dict[str, list[Path]], pythons: dict[str, str | None], work: Path) -> Iterator[str]:
    for version, python in pythons.items():
        if python is None:
            continue
        for made in [pure, *compiled.get(version, [])]:
            target = next((target for tag, target in TARGETS.items() if tag in made.name), None)
            if target is not None and not target.runs_here:
                yield f"{made.name}: built, not run (this machine is another system)"
                continue
            inside = trial.install(python, made, work / f"clean-{version}")
            said = trial.first_commands(inside, work / f"clean-{version}", compiled=made is not pure)
            yield f"{made.name} on Python {version}: {said}; the first commands of the README work"


if __name__ == "__main__":
    sys.exit(main())
