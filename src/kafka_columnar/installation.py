"""Checks whether this distribution is installed completely, by the records of installed files."""

import base64
import csv
import hashlib
import importlib.metadata
import importlib.util
import json
import urllib.parse
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

DISTRIBUTION = "kafka-columnar"
PACKAGE = "kafka"
_CACHES = "__pycache__"
_NAMED = 3
"""Maximum number of files in a message; the doctor lists all."""


class Problem(NamedTuple):
    """A problem with its remedy, and the affected files."""

    text: str
    files: tuple[str, ...] = ()


def problems() -> list[Problem]:
    """Return the problems of the package `kafka`; none if it belongs to this distribution and is complete."""
    own = _own()
    files = recorded(own) if own is not None else {}
    damaged = changed(own, files) if own is not None else {}
    strangers = others()
    found = [_beside(name, theirs, files, damaged) for name, theirs in strangers.items()]
    shared = {name for theirs in strangers.values() for name in theirs}
    alone = {name: there for name, there in damaged.items() if name not in shared}
    if alone:
        found.append(_damaged(alone))
    folder = shadowed_by()
    if folder is not None and not strangers:
        found.append(
            Problem(
                f"'import kafka' finds {folder}, which is not kafka-columnar's: remove it, or install into an "
                "environment of its own"
            )
        )
    return found


def others() -> dict[str, set[str]]:
    """Return other installed distributions with modules in the package `kafka`, and these modules."""
    found: dict[str, set[str]] = {}
    for distribution in importlib.metadata.distributions():
        name = name_of(distribution)
        if name in ("", DISTRIBUTION):
            continue
        files = {file for file in recorded(distribution) if file.endswith((".py", ".so", ".pyd"))}
        if files:
            found[name] = files
    return found


def reinstall(*options: str) -> str:
    """Return the command that reinstalls this distribution."""
    place = source()
    quoted = f"'{place}'" if " " in place else place
    return " ".join(["pip install --force-reinstall --no-deps", *options, quoted])


def source() -> str:
    """Return what pip needs to reinstall it: a folder, a URL, or the name if it came from an index."""
    own = _own()
    try:
        url = json.loads((own.read_text("direct_url.json") if own is not None else None) or "{}").get("url", "")
    except ValueError:
        url = ""
    if url.startswith("file://"):
        return urllib.parse.unquote(urllib.parse.urlsplit(url).path)
    return url or DISTRIBUTION


def shadowed_by() -> Path | None:
    """Return the folder that ``import kafka`` finds, unless it is the one next to this package."""
    spec = importlib.util.find_spec(PACKAGE)
    found = Path(spec.origin).parent if spec is not None and spec.origin else None
    beside = Path(__file__).resolve().parents[1] / PACKAGE
    return None if found is None or found.resolve() == beside else found


def _own() -> importlib.metadata.Distribution | None:
    try:
        return importlib.metadata.distribution(DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError:
        return None


def _beside(name: str, theirs: set[str], ours: Mapping[str, str], damaged: Mapping[str, bool]) -> Problem:
    """Describe another distribution that shares files with this one."""
    shared = sorted(theirs & ours.keys())
    overwritten = tuple(file for file in shared if file in damaged)
    if overwritten:
        state = f"it has written over {len(overwritten)} files of kafka-columnar ({_some(overwritten)})"
    elif shared:
        state = f"kafka-columnar has written over {len(shared)} of them, which uninstalling {name} takes away"
    else:
        state = "they hide each other"
    text = (
        f"{name} is installed beside kafka-columnar, and {len(theirs)} of its files are in the package 'kafka' too: "
        f"only one of them can be used; {state}. To keep kafka-columnar: pip uninstall {name}; then {reinstall()}"
    )
    return Problem(text, overwritten)


def _damaged(files: Mapping[str, bool]) -> Problem:
    """Describe missing or changed files that no other distribution explains."""
    names = [f"{name}" if there else f"{name} (missing)" for name, there in files.items()]
    return Problem(
        f"files of kafka-columnar are missing or not as installed ({_some(files)}), as after another distribution with "
        f"a package 'kafka' was uninstalled: {reinstall()}",
        tuple(names),
    )


def _some(files: Iterable[str]) -> str:
    names = list(files)
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def normal(name: str) -> str:
    """Return the normalized name of a distribution."""
    return name.lower().replace("_", "-").replace(".", "-")


def name_of(distribution: importlib.metadata.Distribution) -> str:
    """Return the name of a distribution; empty for the remains of an interrupted installation, without metadata."""
    try:
        return normal(distribution.metadata["Name"])
    except (AttributeError, KeyError):
        return ""


def recorded(distribution: importlib.metadata.Distribution) -> dict[str, str]:
    """Return the installed files in the package `kafka` with their digests, including compiled modules.

    `Distribution.files` omits missing files.
    """
    rows = csv.reader((distribution.read_text("RECORD") or "").splitlines())
    named = ((row[0], row[1]) for row in rows if len(row) > 1)
    return {name: digest for name, digest in named if name.startswith(f"{PACKAGE}/") and _CACHES not in name}


def changed(distribution: importlib.metadata.Distribution, files: dict[str, str]) -> dict[str, bool]:
    """Return the files that differ from the installed ones, each with whether it exists."""
    found = {}
    for name, digest in files.items():
        try:
            content = Path(str(distribution.locate_file(name))).read_bytes()
        except OSError:
            found[name] = False
            continue
        if digest.startswith("sha256=") and digest != f"sha256={_sha256(content)}":
            found[name] = True
    return found


def _sha256(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
