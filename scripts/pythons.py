"""Run the unit tests on the other Pythons that the machine has, compiled and plain: ``make test-pythons``.

Interpreters come from pyenv if it is installed, and otherwise from the PATH. Each has its own environment, `.venv-3.12`
and so on, with the pinned packages. Python 3.14 comes from a Debian system in a folder of the cache where root allows
that and no interpreter is installed. What cannot be run is named with the reason; with ``CI=true`` the versions in
`DEMANDED` have to be there.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parents[1]
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
CHECKED = f"{sys.version_info[0]}.{sys.version_info[1]}"
"""The version of the environment that this runs in: `make check` runs its tests."""
DEMANDED = ("3.12", "3.13")
IN_DEBIAN = {"3.14": "forky"}
"""Versions that a release of Debian has, for machines without an interpreter."""
PACKAGES = ("{0}", "{0}-venv", "{0}-dev", "gcc", "libc6-dev", "procps", "ca-certificates")
PASSED_ON = ("PIP_", "SSL_", "REQUESTS_", "HTTP_", "HTTPS_", "NO_", "http_", "https_", "no_")

CHOICE = '-m "not exhaustive"'
"""The tests that `make test` runs too."""
VARIANTS = {"compiled": {"KAFKA_REQUIRE_COMPILED": "1"}, "plain": {"KAFKA_PURE": "1"}}
"""What the environment has while the tests of a variant run, both at once."""
Run = Callable[[Sequence[str], Mapping[str, str], IO[str] | None], None]
"""Runs a command in the tree with further variables, and with its output in a file; raises `CalledProcessError`."""


class UnavailableError(Exception):
    """A version is not available; the text says why."""


def main() -> int:
    """Run the tests of the versions asked for; gives 1 if one fails, or lacks where it must be there."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    others = [version for version in VERSIONS if version != CHECKED]
    parser.add_argument("--versions", nargs="+", default=others, choices=VERSIONS, metavar="3.X")
    parser.add_argument("--pytest", default=CHOICE, help="arguments for pytest, in one string [%(default)s]")
    arguments = parser.parse_args()
    demanded = DEMANDED if os.environ.get("CI", "").lower() in ("1", "true") else ()
    outcomes = {}
    for version in arguments.versions:
        print(f"== Python {version}", flush=True)
        try:
            failed = run_tests(*environment(version), shlex.split(arguments.pytest))
            outcomes[version] = f"FAILED: {' and '.join(failed)}" if failed else "passed, compiled and plain"
        except UnavailableError as error:
            outcomes[version] = f"{'MISSING' if version in demanded else 'skipped'}: {error}"
        except subprocess.CalledProcessError as error:
            outcomes[version] = f"FAILED: {' '.join(map(str, error.cmd))}"
    print()
    for version, outcome in outcomes.items():
        print(f"Python {version}: {outcome}")
    return int(any(outcome.startswith(("FAILED", "MISSING")) for outcome in outcomes.values()))


def environment(version: str) -> tuple[Run, str]:
    """Return what runs commands for a version, and the Python of its environment, which is created if missing."""
    run: Run = run_here
    base = find_interpreter(version)
    if base is not None:
        python = ROOT / f".venv-{version}" / "bin" / "python"
        ready = python.parent.parent / "ready"
    else:
        run, base, folder = in_debian(version)
        python, ready = Path(f"/venv-{version}/bin/python"), folder / f"venv-{version}" / "ready"
    pins = (ROOT / "requirements" / "dev.txt").read_text()
    if not ready.exists() or ready.read_text() != pins:
        run([base, "-m", "venv", "--clear", str(python.parent.parent)], {}, None)
        install = [str(python), "-m", "pip", "install", "--quiet", "--no-compile", "--no-deps"]
        run([*install, "-r", "requirements/dev.txt"], {}, None)
        ready.write_text(pins)
    return run, str(python)


def run_tests(run: Run, python: str, pytest_arguments: Sequence[str]) -> list[str]:
    """Build in place and run the unit tests on both variants; gives those that failed."""
    install = [python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--editable", "."]
    run(install, {"KAFKA_PURE": "1"}, None)
    run([python, "setup.py", "--quiet", "build_ext", "--inplace"], VARIANTS["compiled"], None)
    tests = [python, "-m", "pytest", "tests/unit", "-q", "-p", "no:cacheprovider", *pytest_arguments]

    def passes(variant: str) -> bool:
        with tempfile.TemporaryFile("w+") as said:
            try:
                run(tests, VARIANTS[variant], said)
                return True
            except subprocess.CalledProcessError:
                return False
            finally:
                said.seek(0)
                print(f"-- {variant}\n{said.read()}", flush=True)

    with ThreadPoolExecutor() as pool:
        return [variant for variant, passed in zip(VARIANTS, pool.map(passes, VARIANTS), strict=True) if not passed]


def find_interpreter(version: str, needs: Sequence[str] = ("venv", "ensurepip")) -> str | None:
    """Return an interpreter of a version that has these modules: pyenv's newest, or the one on the PATH.

    ``3.14t`` is the free-threaded Python 3.14. It may also be in the folder ``python-3.14t`` of the cache.
    """
    candidates = []
    base = version.removesuffix("t")
    if pyenv := shutil.which("pyenv"):
        listed = subprocess.run([pyenv, "versions", "--bare"], capture_output=True, text=True, check=False).stdout
        releases = [line.strip() for line in listed.splitlines() if line.strip().startswith(f"{base}.")]
        for release in sorted(releases, key=_release_number, reverse=True):
            prefix = subprocess.run([pyenv, "prefix", release], capture_output=True, text=True, check=False).stdout
            candidates.append(os.path.join(prefix.strip(), "bin", "python"))
    candidates.append(shutil.which(f"python{version}") or "")
    candidates.append(str(cache() / f"python-{version}" / "bin" / f"python{version}"))
    return next((each for each in candidates if each and _version_of(each, needs) == version), None)


def _release_number(release: str) -> list[int]:
    return [int(part) for part in release.removesuffix("t").split(".") if part.isdigit()]


def cache() -> Path:
    """Return the folder with what is kept between runs."""
    return Path(os.environ.get("KAFKA_COLUMNAR_CACHE") or Path.home() / ".cache" / "kafka-columnar")


def _version_of(interpreter: str, needs: Sequence[str]) -> str:
    code = f"import {', '.join(['sys', 'sysconfig', *needs])}; print(sysconfig.get_python_version(), end='');"
    code += "print('t' if sysconfig.get_config_var('Py_GIL_DISABLED') else '')"
    try:
        return subprocess.run([interpreter, "-c", code], capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return ""


def run_here(command: Sequence[str], variables: Mapping[str, str], output: IO[str] | None) -> None:
    """Run a command on this system."""
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV", "KAFKA_"))
    }
    subprocess.run(command, cwd=ROOT, env={**clean, **variables}, stdout=output, stderr=output, check=True)


def debian(version: str) -> Path:
    """Return the folder of a Debian system with a version of Python, which is set up if it is not there.

    Raises `UnavailableError` if no release of Debian has it, or this machine cannot set up the system.
    """
    release = IN_DEBIAN.get(version)
    if release is None:
        raise UnavailableError(f"neither pyenv nor the PATH has python{version}")
    if os.geteuid() != 0:
        raise UnavailableError(f"neither pyenv nor the PATH has it, and only root can set up Debian {release}")
    missing = [tool for tool in ("debootstrap", "chroot", "unshare") if shutil.which(tool) is None]
    if missing:
        raise UnavailableError(f"neither pyenv nor the PATH has it, and {', '.join(missing)} is not installed")
    folder = cache() / f"debian-{release}"
    if not (folder / "ready").exists():
        make_debian(release, folder, [each.format(f"python{version}") for each in PACKAGES])
    return folder


def in_debian(version: str) -> tuple[Run, str, Path]:
    """Return what runs commands in a Debian system with this version, its interpreter, and the system's folder."""
    folder = debian(version)
    copy_tree(folder / "tree")

    def run(command: Sequence[str], variables: Mapping[str, str], output: IO[str] | None) -> None:
        passed = {name: value for name, value in os.environ.items() if name.startswith(PASSED_ON)}
        passed.pop("PIP_FIND_LINKS", None)  # folders of this system
        variables = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/root", "LANG": "C.UTF-8", **passed, **variables}
        shell = 'mount -t proc proc "$0/proc" && exec chroot "$0" sh -c \'cd /tree && exec "$@"\' sh "$@"'
        inside = ["unshare", "--mount", "sh", "-c", shell, str(folder), *command]
        subprocess.run(inside, env=variables, stdout=output, stderr=output, check=True)

    return run, f"/usr/bin/python{version}", folder


def make_debian(release: str, folder: Path, packages: Sequence[str]) -> None:
    """Set up a small Debian system in a folder; takes some minutes."""
    shutil.rmtree(folder, ignore_errors=True)
    scripts = folder.with_name(f"{folder.name}-scripts")
    shutil.rmtree(scripts, ignore_errors=True)
    shutil.copytree("/usr/share/debootstrap", scripts, symlinks=True)
    if not (scripts / "scripts" / release).exists():
        (scripts / "scripts" / release).symlink_to("sid")
    folder.mkdir(parents=True)
    command = ["debootstrap", "--no-check-gpg", "--variant=minbase", f"--include={','.join(packages)}", release]
    try:
        subprocess.run([*command, str(folder)], env={**os.environ, "DEBOOTSTRAP_DIR": str(scripts)}, check=True)
    except subprocess.CalledProcessError as error:
        raise UnavailableError(f"debootstrap could not set up Debian {release} in {folder}") from error
    copied = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pip.conf"]
    copied += [os.environ.get(name, "") for name in ("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE")]
    for file in map(Path, filter(None, copied)):
        if file.is_file():
            target = folder / file.relative_to("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            shutil.copyfile(file, target)
    (folder / "ready").touch()


def copy_tree(target: Path) -> None:
    """Copy the tracked files as they are in the work tree, and keep earlier build results."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)


if __name__ == "__main__":
    sys.exit(main())
