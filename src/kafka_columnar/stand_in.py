"""A stand-in for kafka-python: a distribution of that name without files, for packages that require it.

pip installs a required package unless a distribution of that name is installed, and kafka-python would overwrite the
package `kafka`. A stand-in prevents that, and requires kafka-columnar.
"""

import base64
import hashlib
import importlib.metadata
import re
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from kafka_columnar.installation import name_of, normal

RELEASES = {"kafka-python": ("3.0.12", "2.3.3", "2.0.2", "1.4.7"), "kafka-python-ng": ("2.2.3",)}
"""Names that packages may require, and the releases of each, the newest compatible one first."""
DEFAULT = f"kafka-python=={RELEASES['kafka-python'][0]}"
LABEL = "columnar"
"""The local part of a stand-in's version: 3.0.12+columnar counts as 3.0.12."""

_ASKED = re.compile(r"(?P<name>[A-Za-z][A-Za-z0-9._-]*)==(?P<version>\d+(\.\d+)*)")
_BOUND = re.compile(r"(?P<sign><=|>=|==|!=|~=|<|>)(?P<version>\d+(\.\d+)*)")
_REQUIRED = re.compile(r"\s*(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)(?P<rest>[^;]*)(;(?P<marker>.*))?")


class Requirement(NamedTuple):
    """An installed distribution's requirement of kafka-python."""

    by: str
    name: str
    text: str


def requirements() -> list[Requirement]:
    """Return the requirements of installed distributions on kafka-python, except those of extras."""
    found = []
    for distribution in importlib.metadata.distributions():
        by = name_of(distribution)
        for each in distribution.requires or () if by else ():
            match = _REQUIRED.match(each)
            if match is None or normal(match["name"]) not in RELEASES or "extra" in (match["marker"] or ""):
                continue
            name = normal(match["name"])
            found.append(Requirement(by, name, name + re.sub(r"[\s()]", "", match["rest"])))
    return found


def notes(installed_beside: set[str]) -> Iterator[str]:
    """Yield notes on which of those requirements are met, and what to do about the others.

    Arguments:
        installed_beside: distributions with files in the package `kafka`, which are reported as problems.
    """
    for name in RELEASES:
        wanted = sorted({each for each in requirements() if each.name == name})
        if not wanted:
            continue
        told = ", ".join(f"{each.by} requires {each.text}" for each in wanted)
        version = _version(name)
        if version is not None and name not in installed_beside:
            yield f"{told}: {name} {version} stands in for it, and has no files"
        else:
            asked = f"{name}=={fitting(name, [each.text for each in wanted])}"
            yield (
                f"{told}. kafka-columnar has the same package, but pip does not know: it would install {name} over it. "
                f"Give pip a stand-in: kafka doctor --stand-in {asked}; then pip install ./{wheel_name(asked)}"
            )


def fitting(name: str, required: Iterable[str]) -> str:
    """Return a known release that the requirements allow, or a version they name; the newest release if none fits."""
    bounds = [bound for each in required for bound in _BOUND.finditer(each)]
    for version in (*RELEASES[name], *(bound["version"] for bound in bounds)):
        if all(_allows(bound["sign"], bound["version"], version) for bound in bounds):
            return version
    return RELEASES[name][0]


def _allows(sign: str, bound: str, version: str) -> bool:
    given = _numbers(bound)
    this = _numbers(version)
    padded, other = ([*each, *[0] * 4][: max(len(given), len(this))] for each in (this, given))
    allowed = {
        "<": padded < other,
        ">": padded > other,
        "<=": padded <= other,
        ">=": padded >= other,
        "==": padded == other,
        "!=": padded != other,
        "~=": padded >= other and this[: len(given) - 1] == given[:-1],
    }
    return allowed[sign]


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def write(asked: str, folder: Path) -> Path:
    """Write the wheel of a stand-in.

    Arguments:
        asked: name and version, such as "kafka-python==3.0.12".

    Raises `ValueError` if `asked` is not a release of kafka-python.
    """
    file = folder / wheel_name(asked)
    info = f"{file.name.split('-py3-')[0]}.dist-info"
    name, version = _parsed(asked)
    members = {
        f"{info}/METADATA": (
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
            "Summary: Stands in for kafka-python, whose package kafka-columnar has\n"
            "Requires-Dist: kafka-columnar\n"
        ),
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: kafka-columnar\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = [f"{path},sha256={_digest(text)},{len(text)}\n" for path, text in members.items()]
    members[f"{info}/RECORD"] = "".join([*rows, f"{info}/RECORD,,\n"])
    with zipfile.ZipFile(file, "w") as wheel:
        for path, text in members.items():
            wheel.writestr(path, text)
    return file


def wheel_name(asked: str) -> str:
    """Return the file name of the wheel; raises `ValueError`."""
    name, version = _parsed(asked)
    return f"{name.replace('-', '_')}-{version}-py3-none-any.whl"


def _parsed(asked: str) -> tuple[str, str]:
    match = _ASKED.fullmatch(asked)
    if match is None or normal(match["name"]) not in RELEASES:
        raise ValueError(f"a stand-in is for kafka-python or kafka-python-ng, such as {DEFAULT}, not {asked!r}")
    return normal(match["name"]), f"{match['version']}+{LABEL}"


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
