"""Builds the stages of a container file in folders, with chroot. Only root can do this.

The base image is a Debian system that debootstrap creates once, with the Python of `base_python()` in `/usr/local`, as
official images of Python have it. While a RUN step runs, it also has this machine's name servers, certificates, and
settings of apt and pip; they are not part of the result.
"""

from __future__ import annotations

import fnmatch
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from scripts.containers.containerfile import ContainerfileError, Stage, Step

ROOT = Path(__file__).resolve().parents[2]
SUITE = "bookworm"
LIBRARIES = (
    "ca-certificates netbase tzdata libssl3 libffi8 libsqlite3-0 zlib1g libbz2-1.0 liblzma5 libreadline8 libncursesw6 "
    "libuuid1 libexpat1"
)
"""What the image python:3-slim has in addition to Debian's minimum."""
SYSTEM = {"PATH": "/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8"}
PASSED_ON = ("PIP_INDEX", "PIP_EXTRA", "PIP_CERT", "PIP_DEFAULT", "SSL_", "HTTP_", "HTTPS_", "http_", "https_")
LENT = (
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/pip.conf",
    "/etc/ssl/certs",
    "/etc/apt/apt.conf.d",
    "/etc/apt/sources.list.d",
)
"""What a step that runs may use of this machine."""


class UnavailableError(Exception):
    """The machine lacks something that the trial needs; the text says what."""


def base_python(version: str) -> Path:
    """The prefix of an installed Python of a version, such as 3.12. Raises `UnavailableError`."""
    program = f"import sys; print(sys.base_prefix if sys.version.startswith('{version}.') else '')"
    pyenv = shutil.which("pyenv")
    prefixes = []
    if pyenv:
        found = subprocess.run([pyenv, "prefix", version], capture_output=True, text=True, check=False).stdout
        prefixes.append(found.strip())
    for python in (f"python{version}", sys.executable):
        if shutil.which(python):
            done = subprocess.run([python, "-c", program], capture_output=True, text=True, check=False)
            prefixes.append(done.stdout.strip())
    for prefix in filter(None, prefixes):
        if prefix != "/usr":
            return Path(prefix)
    raise UnavailableError(
        f"Python {version}, from pyenv or on PATH and not below /usr, which would take its libraries along"
    )


def base_system(image: str, folder: Path) -> Path:
    """Return a folder with what stands for an image, and create it if it does not exist. Raises `UnavailableError`."""
    match = re.search(rf"/python:(\d+\.\d+)[\d.]*-slim-{SUITE}(@|$)", image)
    if match is None:
        raise ContainerfileError(f"expected a base of Python on slim {SUITE}, got {image}")
    target = folder / f"python{match[1]}"
    if (target / "complete").exists():
        return target
    prefix = base_python(match[1])
    if not shutil.which("debootstrap"):
        raise UnavailableError("debootstrap (a Debian package)")
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    command = ["debootstrap", "--no-check-gpg", "--variant=minbase", f"--include={','.join(LIBRARIES.split())}"]
    subprocess.run([*command, SUITE, str(target), *_mirror()], check=True, stdout=subprocess.DEVNULL)
    left_out = ("--exclude=site-packages", "--exclude=__pycache__", "--exclude=test", "--exclude=*.a")
    archive = subprocess.Popen(
        ["tar", "-C", str(prefix), *left_out, "-cf", "-", "bin", "lib", "include"], stdout=subprocess.PIPE
    )
    subprocess.run(["tar", "-C", str(target / "usr/local"), "-xf", "-"], stdin=archive.stdout, check=True)
    archive.wait()
    subprocess.run(["chroot", str(target), "/sbin/ldconfig"], check=True)
    for name in ("python", "python3"):
        (target / "usr/local/bin" / name).unlink(missing_ok=True)
        (target / "usr/local/bin" / name).symlink_to(f"python{match[1]}")
    (target / "complete").touch()
    return target


def _mirror() -> list[str]:
    for path in sorted(Path("/etc/apt/sources.list.d").glob("*.sources")):
        found = re.search(r"^URIs:\s*(\S+)", path.read_text(), re.MULTILINE)
        if found:
            return [found[1]]
    return []


def build(stages: Sequence[Stage], folder: Path, more: Mapping[str, str] | None = None) -> Path:
    """Run the steps of all stages, and return the folder of the last one.

    Arguments:
        stages: what `containerfile.parse` returns.
        folder: where the stages are created; the base is created next to it.
        more: further variables for RUN steps, such as KAFKA_PURE.
    """
    done: dict[str, Path] = {}
    root = folder
    folder.mkdir(parents=True, exist_ok=True)
    for number, stage in enumerate(stages):
        root = folder / (stage.name or f"stage-{number}")
        shutil.rmtree(root, ignore_errors=True)
        subprocess.run(
            ["cp", "-a", "--reflink=auto", str(base_system(stage.base, folder.parent)), str(root)], check=True
        )
        (root / "complete").unlink()
        _run_steps(stage, root, done, dict(more or {}))
        done[stage.name or str(number)] = root
    return root


def _run_steps(stage: Stage, root: Path, done: Mapping[str, Path], more: dict[str, str]) -> None:
    variables, here = dict(SYSTEM), "/"
    for step in stage.steps:
        if step.name == "ENV":
            variables |= dict(word.split("=", 1) for word in step.words())
        elif step.name == "WORKDIR":
            here = os.path.join(here, step.text)
            (root / here.lstrip("/")).mkdir(parents=True, exist_ok=True)
        elif step.name == "COPY":
            copy(step, root, here, done)
        elif step.name == "RUN":
            run(step, root, here, variables | more)
        elif step.name == "VOLUME":
            for path in step.words():
                (root / path.lstrip("/")).mkdir(parents=True, exist_ok=True)


def copy(step: Step, root: Path, here: str, done: Mapping[str, Path]) -> None:
    """Copy files from the build context, as `.dockerignore` leaves it, or from another stage."""
    *sources, target = step.words()
    home = done[step.options["from"]] if "from" in step.options else ROOT
    place = root / os.path.join(here, target).lstrip("/")
    into = target.endswith("/") or len(sources) > 1
    for source in sources:
        found = home / source.lstrip("/")
        if not found.exists():
            raise ContainerfileError(f"line {step.line}: {source} does not exist")
        if home == ROOT and is_ignored(source.rstrip("/")):
            raise ContainerfileError(f"line {step.line}: .dockerignore leaves out {source}")
        end = place / found.name if into and not found.is_dir() else place
        end.parent.mkdir(parents=True, exist_ok=True)
        if found.is_dir():
            ignored = _ignored if home == ROOT else None
            shutil.copytree(found, end, symlinks=True, ignore=ignored, dirs_exist_ok=True)
        else:
            shutil.copy2(found, end)


def _ignored(folder: str, names: list[str]) -> set[str]:
    inside = Path(folder).relative_to(ROOT)
    return {name for name in names if is_ignored((inside / name).as_posix())}


def is_ignored(path: str) -> bool:
    """Whether `.dockerignore` leaves out a path of the tree. The last line that fits it or a folder above it counts."""
    ignored = False
    for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        pattern = line.removeprefix("!")
        above = [path, *(parent.as_posix() for parent in Path(path).parents)][:-1]
        plain = pattern.replace("/**/", "/*")
        if any(
            fnmatch.fnmatchcase(each, plain) or fnmatch.fnmatchcase(each, pattern.replace("**/", "")) for each in above
        ):
            ignored = not line.startswith("!")
    return ignored


def run(step: Step, root: Path, here: str, variables: Mapping[str, str]) -> None:
    """Run a RUN step in a mount namespace of its own, with what this machine lends it."""
    mounts = [f"mount --bind {path} {root}{path}" for path in LENT if os.path.exists(path) and _place(root, path)]
    mounts += [f"mount --rbind {path} {root}{path}" for path in ("/proc", "/dev")]
    enter = f'exec chroot {root} /bin/sh -ec \'cd "$0"; eval "$1"\' {here} "$1"'
    script = "\n".join(["set -e", *mounts, enter])
    passed_on = {name: value for name, value in os.environ.items() if name.startswith(PASSED_ON)}
    done = subprocess.run(
        ["unshare", "--mount", "--propagation", "private", "/bin/sh", "-c", script, "sh", step.text],
        env=passed_on | dict(variables),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ContainerfileError(
            f"line {step.line}: RUN failed with {done.returncode}:\n{(done.stdout + done.stderr)[-4000:]}"
        )


def _place(root: Path, path: str) -> bool:
    """Create the place at which a path of this machine is mounted."""
    place = root / path.lstrip("/")
    if os.path.isdir(path):
        place.mkdir(parents=True, exist_ok=True)
    elif not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()
    return True
