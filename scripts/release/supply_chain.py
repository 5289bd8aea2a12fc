"""What users need to verify a release: checksums, a bill of materials, and advisories for the pinned packages.

`docs/SUPPLY_CHAIN.md` describes these files for users. `scripts.release` calls `checksums`, `bill` and `audit`.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scripts.release.build import ROOT, BuildError, run
from scripts.release.interpreters import Interpreter

CHECKSUMS = "SHA256SUMS"
_OUTAGE = re.compile(r"ConnectionError|Timeout|Max retries|ServiceError|HTTPError")
"""What pip-audit says if the service with the advisories does not answer."""


def checksums(folder: Path) -> str:
    """Write the SHA-256 of each file to SHA256SUMS, in the format of ``sha256sum``, and say how many files there are.

    Arguments:
        folder: the folder with what is published.
    """
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name != CHECKSUMS)
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (folder / CHECKSUMS).write_text("".join(lines), encoding="utf-8")
    return f"{CHECKSUMS} has {len(files)} files"


def bill(python: Interpreter, out: Path, version: str) -> str:
    """Write the software bill of materials (CycloneDX) of an environment, and say how many components it has.

    Arguments:
        python: the Python, on this system, of an environment with the package and its dependencies.
        out: the folder for the file.
        version: the version of the package.

    Raises `BuildError` if the package itself or one of its dependencies is missing in it.
    """
    file = out / f"kafka_columnar-{version}.cdx.json"
    options = ["--output-reproducible", "--spec-version", "1.6", "--of", "JSON", "-o", str(file)]
    run([sys.executable, "-m", "cyclonedx_py", "environment", *options, python.python], ROOT)
    found = {each["name"].lower().replace("_", "-") for each in json.loads(file.read_text("utf-8"))["components"]}
    if missing := {"kafka-columnar", "click"} - found:
        raise BuildError(f"{file.name} lacks {', '.join(sorted(missing))}: it has {', '.join(sorted(found))}")
    return f"{file.name} has {len(found)} components"


def audit(requirements: Sequence[Path]) -> str:
    """Look for advisories of the pinned packages, and say how many packages were audited.

    Arguments:
        requirements: files with pinned packages.

    Raises `BuildError` for packages with known vulnerabilities. If the advisories cannot be read, the result says so:
    the release can be built without them, but has to be audited before it is published.
    """
    packages: dict[tuple[str, str], dict[str, Any]] = {}
    for path in requirements:
        options = ["--no-deps", "--disable-pip", "--progress-spinner", "off", "--format", "json", "-r", str(path)]
        command = [sys.executable, "-m", "pip_audit", *options]
        found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        try:
            listed = json.loads(found.stdout)["dependencies"]
        except (ValueError, KeyError, TypeError):
            if _OUTAGE.search(found.stderr):
                return "the advisories of the pinned packages could not be read: audit them before publishing"
            raise BuildError(f"pip-audit failed for {path.name}: {found.stderr.strip()}") from None
        packages |= {(each["name"], each.get("version", "")): each for each in listed}
    return judged(list(packages.values()))


def judged(packages: Sequence[Mapping[str, Any]]) -> str:
    """Say what pip-audit found.

    Arguments:
        packages: the packages in its reports.

    Raises `BuildError` for packages with known vulnerabilities.
    """
    bad = [
        f"{each['name']} {each['version']}: {advisory['id']}, fixed in {', '.join(advisory['fix_versions']) or 'none'}"
        for each in packages
        for advisory in each.get("vulns", ())
    ]
    if bad:
        raise BuildError("pinned packages with known vulnerabilities:\n" + "\n".join(bad))
    unknown = [each["name"] for each in packages if "skip_reason" in each]
    text = f"no advisory for {len(packages) - len(unknown)} pinned packages"
    if unknown:
        text += f"; audit the other {len(unknown)}, whose advisories could not be read, before publishing"
    return text
