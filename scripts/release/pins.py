"""Checks that the packages of each requirements file fit together, as ``pip check`` would after an installation.

pip reports the metadata of the pinned packages without installing them. `together` compares them; add a file to
`ALONE` or `OVER_DEV` if it is installed in one of these ways. The packages of all other files are in directories of
their own on the path, before those of dev.txt.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from scripts.release.build import ROOT, BuildError, run

Packages = Mapping[str, tuple[str, Sequence[str]]]
"""By canonical name: a package's version and what it requires."""
BASE = "dev"
ALONE = ("dev", "release")
"""Files whose packages have an environment of their own."""
OVER_DEV = ("docs", "spark-trials")
"""Files whose packages go into the environment of dev.txt."""
ABSENT = {
    "pip": "every environment has it",
    "kafka-python": "this package takes its place",
    "playwright": "the tests read axe-core out of axe-playwright-python, and drive the browser themselves",
}
"""Packages that are required, but deliberately not pinned, with the reason."""
BUILT_WITH = {"kerberos": ("krb5-config", "gssapi is built with MIT Kerberos: apt-get install gcc libkrb5-dev")}
"""Files with packages that have no wheels here: the program that a build needs, and what to install."""


def check(requirements: Sequence[Path], work: Path) -> str:
    """Check files of pinned packages, and say how many packages they have.

    Arguments:
        requirements: the files, among them dev.txt.
        work: a directory for pip's reports.

    Files whose packages cannot be built here are named as skipped.

    Raises `BuildError` for packages that do not fit together, or require one that is not pinned.
    """
    work.mkdir(parents=True, exist_ok=True)
    skipped = {path.stem: reason for path in requirements if (reason := _obstacle(path.stem))}
    read = [path for path in requirements if path.stem not in skipped]
    found = {path.stem: reported(path, work / f"{path.stem}.json") for path in read}
    faults: list[str] = []
    for name, packages in found.items():
        base: Packages = {} if name in ALONE else found[BASE]
        installed = {**base, **packages}
        judged = installed if name in OVER_DEV else packages
        faults += [f"{name}.txt: {fault}" for fault in together(judged, installed)]
    if faults:
        raise BuildError("pinned packages do not fit together:\n" + "\n".join(dict.fromkeys(faults)))
    line = f"{sum(map(len, found.values()))} pinned packages of {len(found)} files fit together"
    return "".join([line, *(f"; skipped {name}.txt: {reason}" for name, reason in skipped.items())])


def _obstacle(name: str) -> str:
    """Return why pip cannot read the metadata of a file's packages here, or ""."""
    program, advice = BUILT_WITH.get(name, ("", ""))
    return f"{program} was not found ({advice})" if program and shutil.which(program) is None else ""


def reported(requirements: Path, report: Path) -> Packages:
    """Return the metadata of the packages that a file pins, as pip would install them here."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--no-deps"]
    run([*command, "--report", str(report), "--requirement", str(requirements)], ROOT)
    listed = [each["metadata"] for each in json.loads(report.read_text(encoding="utf-8"))["install"]]
    return {canonicalize_name(each["name"]): (each["version"], each.get("requires_dist", ())) for each in listed}


def together(packages: Packages, installed: Packages) -> Iterator[str]:
    """Yield a sentence for each requirement that is not met.

    Arguments:
        packages: the packages whose requirements are checked.
        installed: all packages of the environment.
    """
    for name, (version, requirements) in sorted(packages.items()):
        for requirement in map(Requirement, requirements):
            needed = canonicalize_name(requirement.name)
            if needed in ABSENT or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
                continue
            if needed not in installed:
                yield f"{name} {version} requires {requirement}, which is not pinned"
            elif not requirement.specifier.contains(installed[needed][0], prereleases=True):
                yield f"{name} {version} requires {requirement}, but {installed[needed][0]} is pinned"
