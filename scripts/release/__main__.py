"""All of a release but the upload: ``make release-check``.

Looks over workflows, forms, hooks and pinned packages; builds the source distribution, the pure wheel and, with zig,
wheels for Linux with an old glibc and with musl; builds some of them twice, which has to give the same bytes; has
auditwheel and twine judge them; asks cibuildwheel what it would build, and mypy what is missing on macOS and Windows;
builds and checks the site; installs what can run here into empty environments, and tries the first commands of the
README there, on the newest Pythons also unit tests and threads; writes a bill of materials and checksums, and looks for
advisories of the pinned packages. The first failure ends it, so quick parts come first.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import runpy
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from scripts.pythons import UnavailableError
from scripts.release import build, description, interpreters, pins, project, supply_chain, systems, trial
from scripts.release.build import ROOT, BuildError, run
from scripts.release.interpreters import FREE_THREADED, Interpreter
from scripts.release.steps import Steps
from scripts.release.targets import TARGETS

DISTRIBUTION_VERSION: str = runpy.run_path(str(ROOT / "src" / "kafka" / "version.py"))["DISTRIBUTION_VERSION"]
COMPILED = ("3.11", "3.12", "3.13", "3.14")
"""The versions that have wheels with compiled modules."""
VERSIONS = (*COMPILED, FREE_THREADED)
TESTED = ("3.14", FREE_THREADED)
"""The versions on which unit tests run with what was built; `make test` and `make test-pythons` have the others."""
PARTS = 9
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
    parser.add_argument(
        "--all-targets", action="store_true", help="build for all systems with each Python, not only with the first"
    )
    parser.add_argument("--no-docs", action="store_true", help="do not build and check the site")
    arguments = parser.parse_args()
    work = ROOT / "build" / "release"
    shutil.rmtree(work, ignore_errors=True)
    shutil.rmtree(arguments.out, ignore_errors=True)
    arguments.out.mkdir(parents=True)
    steps = Steps(PARTS - arguments.no_docs, lambda line: print(line, flush=True))
    try:
        Release(arguments, work, steps).check()
    except (BuildError, UnavailableError) as error:
        print(f"not fit to be published: {steps.current}: {error}", file=sys.stderr)
        return 1
    finally:
        print(steps.table(), flush=True)
    return 0


class Release:
    """The parts of the check, in their order.

    Arguments:
        options: of the command line.
        work: a directory for all that is not published.
        steps: shows how far the check is.
    """

    def __init__(self, options: argparse.Namespace, work: Path, steps: Steps) -> None:
        self.options = options
        self.out: Path = options.out
        self.work = work
        self.steps = steps
        self.requirements = sorted((ROOT / "requirements").glob("*.txt"))
        self.wheels: dict[str, list[Path]] = {}

    def check(self) -> None:
        """Run all parts; raises `BuildError` at the first fault."""
        say = self.steps.say
        with self.steps.step("version, workflows, forms, hooks and pinned packages"):
            say(f"version {_checked_version()}")
            for line in project.check():
                say(line)
            say(pins.check(self.requirements, self.work / "pins"))
            say(f"cibuildwheel would build {_identifiers()} wheels")
            pythons = self.pythons()
        with self.steps.step("source distribution and pure wheel, twice"):
            source, pure = self.plain()
        with self.steps.step("the package on macOS and Windows"):
            for system in systems.SYSTEMS:
                say(systems.check(system))
        if not self.options.no_docs:
            with self.steps.step("the site: make docs"):
                say(run(["make", "--no-print-directory", "docs"], ROOT, CI="true").strip().splitlines()[-1])
        with self.steps.step("wheels with compiled modules"):
            self.compiled(source, pythons)
            everything = [source, pure, *(made for each in self.wheels.values() for made in each)]
            run([sys.executable, "-m", "twine", "check", "--strict", *map(str, everything)], ROOT)
            say(f"twine finds nothing wrong with {len(everything)} files")
        with self.steps.step("installations and the first commands of the README"):
            for python in pythons:
                self.try_out(python, pure)
        with self.steps.step(f"unit tests and threads on Python {' and '.join(TESTED)}"):
            self.test(pythons, pure, source)
        with self.steps.step("bill of materials and checksums"):
            here = next(python for python in pythons if not python.prefix)
            bill = trial.install(here, pure, self.work / "bill")
            say(supply_chain.bill(bill, self.out, DISTRIBUTION_VERSION))
            say(supply_chain.checksums(self.out))
        with self.steps.step("advisories for the pinned packages"):
            say(supply_chain.audit(self.requirements))

    def pythons(self) -> list[Interpreter]:
        """Find the Pythons; what is not there is named, and an error where CI demands it."""
        found = []
        for version in self.options.pythons:
            try:
                found.append(interpreters.find(version))
            except UnavailableError as error:
                if interpreters.is_demanded(version):
                    raise
                self.steps.say(f"Python {version}: SKIPPED: {error}")
            else:
                where = "in a Debian system" if found[-1].prefix else found[-1].python
                self.steps.say(f"Python {version}: {where}")
        if all(python.prefix or python.is_free_threaded for python in found):
            raise BuildError("none of the Pythons is on this system")
        return found

    def plain(self) -> tuple[Path, Path]:
        """Build what has no compiled modules, twice from one copy of the tracked files."""
        exported = build.export(self.work / "export")
        again = Path(shutil.copytree(exported, self.work / "export-again"))
        source, pure = _plain(exported, self.out, self.work / "first")
        _same([source, pure], list(_plain(again, self.work / "again" / "out", self.work / "again")))
        self.steps.say(f"{source.name}, {pure.name}: twice the same bytes")
        _check_contents(source)
        self.steps.say(description.check(pure))
        return source, pure

    def compiled(self, source: Path, pythons: Sequence[Interpreter]) -> None:
        """Build the wheels for the systems, one of them twice."""
        tree = build.unpack(source, self.work / "compiled")
        targets: list[str] = self.options.targets
        for python in pythons:
            if python.is_free_threaded:
                continue
            tools = _tools(python, self.work / f"tools-{python.version}")
            is_first = not self.wheels
            for tag in targets if is_first or self.options.all_targets else targets[:1]:
                made = build.wheel(tools, tree, self.out, TARGETS[tag])
                self.wheels.setdefault(python.version, []).append(made)
                self.steps.say(f"{made.name}: {_audit(made, tag)}")
            if is_first:
                self.steps.say(self.compiled_again(source, tools, targets[0]))

    def compiled_again(self, source: Path, tools: Interpreter, tag: str) -> str:
        """Build the first wheel in another directory."""
        other = build.unpack(source, self.work / "tree-again")
        first = next(iter(self.wheels.values()))[0]
        _same([first], [build.wheel(tools, other, self.work / "again" / "out", TARGETS[tag])])
        return f"{first.name}: twice the same bytes, from another folder"

    def try_out(self, python: Interpreter, pure: Path) -> None:
        """Install the wheels that a Python can load, and try the first commands of the README with each."""
        version = python.version
        folder = self.work / f"clean-{version}"
        for made in [pure, *self.wheels.get(version, [])]:
            target = next((target for tag, target in TARGETS.items() if tag in made.name), None)
            if target is not None and not target.runs_here:
                self.steps.say(f"{made.name}: built, not run (this machine is another system)")
                continue
            inside = trial.install(python, made, folder)
            said = trial.first_commands(inside, folder, compiled=made is not pure)
            self.steps.say(f"{made.name} on Python {version}: {said}; the first commands of the README work")

    def test(self, pythons: Sequence[Interpreter], pure: Path, source: Path) -> None:
        """Run unit tests and the trial of threads with what is installed from a wheel."""
        for python in pythons:
            if python.version not in TESTED:
                continue
            made = self.built_free_threaded(python, source) if python.is_free_threaded else None
            here = [tag for tag, target in TARGETS.items() if target.runs_here]
            runnable = [each for each in self.wheels.get(python.version, []) if any(tag in each.name for tag in here)]
            wheel = made or next(iter(runnable), pure)
            inside = trial.install(python, wheel, self.work / f"tested-{python.version}")
            said = trial.on_python(inside, _pins("dev.txt", *trial.TEST_PACKAGES), compiled=wheel in runnable)
            self.steps.say(f"{wheel.name} on Python {python.version}: {said}")

    def built_free_threaded(self, python: Interpreter, source: Path) -> Path:
        """Build a wheel as pip does on a free-threaded Python; it has to be one without compiled modules."""
        tools = python.environment(
            self.work / f"tools-{python.version}", *_pins("dev.txt", "setuptools", "cython"), options=("--no-deps",)
        )
        out = self.work / "free-threaded"
        tools.run(ROOT, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(out), str(source))
        (made,) = out.iterdir()
        if not made.name.endswith("-py3-none-any.whl"):
            raise BuildError(f"a free-threaded Python compiled modules, which would enable the GIL: {made.name}")
        return made


def _plain(exported: Path, out: Path, work: Path) -> tuple[Path, Path]:
    out.mkdir(parents=True, exist_ok=True)
    source = build.sdist(exported, out)
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


def _tools(python: Interpreter, folder: Path) -> Interpreter:
    """Make an environment of a Python with what builds wheels."""
    packages = [*_pins("dev.txt", "cython", "setuptools", "wheel"), *_pins("release.txt", "ziglang")]
    return python.environment(folder, *packages, options=("--no-deps",))


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
        wanted = [f"cp{version.replace('.', '')}-{kind}" for version in COMPILED for kind in kinds]
        if sorted(given) != sorted(wanted):
            raise BuildError(f"cibuildwheel would build {given} on {platform}, not {wanted}")
        found += given
    return len(found)


if __name__ == "__main__":
    sys.exit(main())
