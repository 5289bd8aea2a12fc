"""Whether this distribution is installed whole, judged by the records of installed files."""

import importlib.metadata
import importlib.util
import json
import urllib.parse
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from kafka_columnar.records import PACKAGE, changed, name_of, recorded

DISTRIBUTION = "kafka-columnar"
_NAMED = 3
"""Files that a text names; the doctor lists all."""


class Problem(NamedTuple):
    """What is wrong and what to do, and the files that it is about."""

    text: str
    files: tuple[str, ...] = ()


def problems() -> list[Problem]:
    """What is wrong with the package `kafka`, each with what to do; none if it is this distribution's and whole."""
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
    """Other installed distributions that have modules in the package `kafka`, and which."""
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
    """The command that installs the same again."""
    place = source()
    quoted = f"'{place}'" if " " in place else place
    return " ".join(["pip install --force-reinstall --no-deps", *options, quoted])


def source() -> str:
    """What to hand to pip to install the same again: a folder, an address, or the name where it came from an index."""
    own = _own()
    try:
        url = json.loads((own.read_text("direct_url.json") if own is not None else None) or "{}").get("url", "")
    except ValueError:
        url = ""
    if url.startswith("file://"):
        return urllib.parse.unquote(urllib.parse.urlsplit(url).path)
    return url or DISTRIBUTION


def shadowed_by() -> Path | None:
    """The folder that ``import kafka`` finds, if that is not the one beside this package."""
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
    """Another distribution is installed too, over ours or under it."""
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
    """Files of ours are gone or different, and nobody is there who did it."""
    names = [f"{name}" if there else f"{name} (missing)" for name, there in files.items()]
    return Problem(
        f"files of kafka-columnar are missing or not as installed ({_some(files)}), as after another distribution with "
        f"a package 'kafka' was uninstalled: {reinstall()}",
        tuple(names),
    )


def _some(files: Iterable[str]) -> str:
    names = list(files)
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
