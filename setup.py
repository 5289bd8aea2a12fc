"""Compile the hot modules with Cython, where that is possible; everything else stands in pyproject.toml.

No compiler, no Cython, or a module that does not compile: the installation goes on with the plain `.py` of that module,
which does the same more slowly. `KAFKA_PURE=1` skips compiling, `KAFKA_REQUIRE_COMPILED=1` makes a failure fatal. On a
free-threaded Python, nothing is compiled without the latter, because compiled modules need the GIL and would enable it.
"""

from __future__ import annotations

import os
import runpy
import shutil
import sys
import sysconfig
import threading
import tomllib
from pathlib import Path
from typing import Any

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
SANITIZED = os.environ.get("KAFKA_SANITIZED", "") not in ("", "0")
"""For the fuzzer: modules that stop at the first read or write out of bounds, and at undefined behaviour."""
REQUIRED = SANITIZED or os.environ.get("KAFKA_REQUIRE_COMPILED", "") not in ("", "0")


PURE = os.environ.get("KAFKA_PURE", "") not in ("", "0")
FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
SHARED = "kafka._cython_shared"
"""A module of what Cython otherwise adds to each module that uses memoryviews: half of what there is to compile."""
MOST_AT_ONCE = 8
"""Limits how many modules are built at once: each takes up to 200 MB of memory, and Cython's part is not parallel."""


def say(text: str) -> None:
    """Print a line that also shows where the build tool keeps standard output to itself."""
    print(f"kafka-columnar: {text}", file=sys.stderr, flush=True)


class Progress:
    """Shows how far the build is: one line that changes on a terminal, otherwise a line for each tenth.

    Arguments:
        what: what is done with the modules, such as ``compiling``.
        total: the number of modules.
    """

    def __init__(self, what: str, total: int) -> None:
        self._what = what
        self._total = total
        self._done = 0
        self._lock = threading.Lock()

    def begin(self, name: str) -> None:
        """Show that the next module is being processed. Several threads may call this."""
        with self._lock:
            self._done += 1
            text = f"kafka-columnar: {self._what} {self._done} of {self._total}"
            if sys.stderr.isatty():
                end = "\n" if self._done == self._total else ""
                print(f"\r\033[K{text}: {name}", end=end, file=sys.stderr, flush=True)
            elif self._done * 10 // self._total > (self._done - 1) * 10 // self._total:
                print(text, file=sys.stderr, flush=True)


def hot_modules() -> list[str]:
    """Read the one list of modules to compile without importing the package."""
    listed: tuple[str, ...] = runpy.run_path(str(ROOT / "src/kafka/_variant.py"))["HOT_MODULES"]
    missing = [name for name in listed if not source_of(name).exists()]
    if missing:
        say(f"listed in HOT_MODULES but not in the tree: {', '.join(missing)}")
    return [name for name in listed if name not in missing]


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def source_of(name: str) -> Path:
    """The `.py` file of a module below src."""
    return ROOT / "src" / Path(*name.split(".")).with_suffix(".py")


def long_description() -> str:
    """Return the README as a package index shows it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    function = runpy.run_path(str(ROOT / "scripts" / "long_description.py"))["long_description"]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return str(function(readme, project.get("urls", {}).get("Repository", "")))


def extensions() -> list[Extension]:
    """One optional extension a hot module, and one that they share; empty if the plain variant is wanted."""
    if PURE:
        say("KAFKA_PURE is set: nothing is compiled")
        return []
    if FREE_THREADED and not REQUIRED:
        say("this Python is free-threaded: nothing is compiled, because compiled modules would enable the GIL")
        return []
    link_flags = []
    if SANITIZED:
        link_flags = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
        flags = ["-O1", "-g", "-fno-omit-frame-pointer", "-Wno-unused-function", *link_flags]
    elif sys.platform == "win32":
        flags = ["/O2"]
    else:
        flags = ["-O3", "-g0", "-fno-strict-aliasing", "-Wno-unused-function"]
    sources = {SHARED: []} | {name: [str(source_of(name).relative_to(ROOT))] for name in hot_modules()}
    return [
        Extension(name, files, extra_compile_args=flags, extra_link_args=link_flags, optional=not REQUIRED)
        for name, files in sources.items()
    ]


def old_paths() -> dict[str, str]:
    """The old import paths, which are files in a wheel alone: their text by file."""
    table = runpy.run_path(str(ROOT / "src/kafka/legacy/addresses.py"))
    return {table["file_of"](path): table["source_of"](path) for path in table["ADDRESSES"]}


def remove_stale() -> None:
    """Remove what would be imported before the modules of the tree.

    Python takes a folder with no module in it, left over from an earlier version, for a package. It prefers an
    extension module to the `.py` of a module that is hot no more.
    """
    for file in old_paths():
        folder = ROOT / "src" / file.removesuffix(".py").removesuffix("/__init__")
        if folder.is_dir() and not any(each.suffix == ".py" for each in folder.rglob("*")):
            shutil.rmtree(folder)
    hot = {source_of(name).with_suffix("") for name in (SHARED, *hot_modules())}
    for suffix in (".so", ".pyd"):
        for file in (ROOT / "src").rglob(f"*{suffix}"):
            if file.with_name(file.name.partition(".")[0]) not in hot:
                file.unlink()


class BuildModules(build_py):
    """Adds what the tree does not have: the old import paths as modules, and a note if the plain variant was asked for.

    The note keeps a program from warning that it runs plain.
    """

    def run(self) -> None:
        """Copy the modules, and write the others beside them."""
        super().run()
        if self.editable_mode:
            return
        for file, text in old_paths().items():
            target = Path(self.build_lib, file)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        note = Path(self.build_lib, "kafka", runpy.run_path(str(ROOT / "src/kafka/_variant.py"))["PLAIN_BUILD"])
        note.unlink(missing_ok=True)
        if PURE:
            note.write_text("built with KAFKA_PURE=1\n")


class BuildHotModules(build_ext):
    """Runs Cython and the C compiler for each module, so that a module that fails does not take the others along.

    Several modules are built at once, one for each processor that this process may use, unless ``--parallel`` or
    ``-j`` says how many. Cython translates one of them at a time, because it is not made for threads; meanwhile, the C
    compiler runs for others.
    """

    def finalize_options(self) -> None:
        """Choose how many modules are built at once."""
        super().finalize_options()
        if self.parallel is None:
            self.parallel = min(processors(), MOST_AT_ONCE)
        self.translating = threading.Lock()
        self.given_up = False

    def run(self) -> None:
        """Build, and leave nothing beside the sources that is out of date."""
        super().run()
        if self.inplace:
            remove_stale()

    def build_extensions(self) -> None:
        """Build all modules, the largest first, so that at the end no processor waits long for another.

        Without the module that they share, the others cannot be imported, so they stay plain too.
        """
        names = [extension.name for extension in self.extensions]
        shared, hot = self.extensions[:1], self.extensions[1:]
        hot.sort(key=lambda extension: -sum(Path(each).stat().st_size for each in extension.sources))
        self.extensions = shared + hot
        self.progress = Progress("compiling", len(names))
        super().build_extensions()
        if not Path(self.get_ext_fullpath(SHARED)).exists():
            for name in names:
                if Path(self.get_ext_fullpath(name)).exists():
                    self.failed(name, f"it needs {SHARED}")

    def build_extension(self, extension: Extension) -> None:
        """Build one module. After a failure, which is reported, the base class goes on: modules are optional."""
        with self.translating:
            if self.given_up:
                return
            self.progress.begin(extension.name)
            translated = self.translate(extension)
        for each in translated:
            try:
                super().build_extension(each)
            except Exception as error:
                self.failed(each.name, f"no C compiler, or it failed: {error}")
                raise

    def translate(self, extension: Extension) -> list[Extension]:
        """Put the C file that Cython makes in the place of the `.py` of one extension; empty if that failed."""
        try:
            from Cython.Build import cythonize
            from Cython.Compiler.Errors import CompileError
        except ImportError:
            self.failed(extension.name, "Cython is not installed")
            return []
        try:
            translated: list[Extension] = cythonize(
                [extension],
                build_dir="build/cython",
                language_level=3,
                quiet=True,
                shared_utility_qualified_name=SHARED,
            )
        except CompileError as error:
            self.failed(extension.name, f"Cython failed: {error}")
            return []
        extension.sources, extension.depends = translated[0].sources, translated[0].depends
        return [extension]

    def failed(self, name: str, why: str) -> None:
        """Remove what an earlier build left of the module, and say (or raise) that it stays plain."""
        if REQUIRED:
            self.given_up = True  # otherwise the build would go on with the other modules before it fails
            raise SystemExit(f"kafka-columnar: {name} could not be compiled: {why}")
        say(f"{name} stays plain Python: {why}")
        for stale in (Path(self.get_ext_fullpath(name)), ROOT / "src" / self.get_ext_filename(name)):
            stale.unlink(missing_ok=True)


class WheelOfWhatWasBuilt(bdist_wheel):
    """Tags the wheel by what is in it: one in which nothing is compiled is for every platform (py3-none-any).

    Tagged for this platform, it would be kept and installed again where a compiler has come since.
    """

    def run(self) -> None:
        """Build, look at what came out, and pack it."""
        self.run_command("build")
        build = self.get_finalized_command("build_ext")
        if not any(Path(output).exists() for output in build.get_outputs()):
            say("nothing was compiled: the wheel is for every platform")
            self.distribution.ext_modules = None
            self.root_is_pure = True
        super().run()


options: dict[str, Any] = {
    "long_description": long_description(),
    "long_description_content_type": "text/markdown",
    "ext_modules": extensions(),
    "cmdclass": {"build_ext": BuildHotModules, "build_py": BuildModules, "bdist_wheel": WheelOfWhatWasBuilt},
}
setup(**options)
