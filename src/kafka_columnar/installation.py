"""Whether this distribution is installed whole, judged by the records of installed files."""

import base64
import csv
import hashlib
import importlib.metadata
import importlib.util
import json
import urllib.parse
from pathlib import Path

DISTRIBUTION = "kafka-columnar"
PACKAGE = "kafka"


def _own() -> importlib.metadata.Distribution | None:
    try:
        return importlib.metadata.distribution(DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError:
        return None


def _name(distribution: importlib.metadata.Distribution) -> str:
    try:
        return distribution.metadata["Name"].lower().replace("_", "-")
    except (AttributeError, KeyError):  # what an interrupted installation leaves has no metadata
        return ""


def others() -> dict[str, int]:
    """Other installed distributions that have files in the package `kafka`, and how many."""
    found: dict[str, int] = {}
    for distribution in importlib.metadata.distributions():
        name = _name(distribution)
        if name in ("", DISTRIBUTION):
            continue
        count = sum(1 for file in distribution.files or () if file.parts[:1] == (PACKAGE,) and file.suffix == ".py")
        if count:
            found[name] = count
    return found


def damaged() -> list[str]:
    """Files of this distribution's package `kafka` that are missing, or not as they were installed."""
    own = _own()
    wrong = []
    if own is None:
        return []
    for name, digest in _recorded(own):
        if not name.startswith(f"{PACKAGE}/") or not name.endswith(".py"):
            continue
        try:
            content = Path(str(own.locate_file(name))).read_bytes()
        except OSError:
            wrong.append(name)
            continue
        if digest.startswith("sha256=") and digest != f"sha256={_sha256(content)}":
            wrong.append(name)
    return wrong


def _recorded(distribution: importlib.metadata.Distribution) -> list[tuple[str, str]]:
    """Names and digests of the files that were installed. `Distribution.files` leaves out what is missing."""
    rows = csv.reader((distribution.read_text("RECORD") or "").splitlines())
    return [(row[0], row[1]) for row in rows if len(row) > 1]


def _sha256(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def shadowed_by() -> Path | None:
    """The folder that ``import kafka`` finds, if that is not the one beside this package."""
    spec = importlib.util.find_spec(PACKAGE)
    found = Path(spec.origin).parent if spec is not None and spec.origin else None
    beside = Path(__file__).resolve().parents[1] / PACKAGE
    return None if found is None or found.resolve() == beside else found


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


def reinstall(*options: str) -> str:
    """The command that installs the same again."""
    place = source()
    quoted = f"'{place}'" if " " in place else place
    return " ".join(["pip install --force-reinstall --no-deps", *options, quoted])


def problems() -> list[str]:
    """What is wrong with the package `kafka`, each with what to do; none if it is this distribution's and whole."""
    found = []
    strangers = others()
    for name, count in strangers.items():
        found.append(
            f"{name} is installed beside kafka-columnar, and {count} of its files are in the package 'kafka' too: only "
            f"one of them can be used. To keep kafka-columnar: pip uninstall {name}; then {reinstall()}"
        )
    wrong = damaged()
    if wrong and not strangers:
        shown = ", ".join(wrong[:3]) + (f" and {len(wrong) - 3} more" if len(wrong) > 3 else "")
        found.append(
            f"files of kafka-columnar are missing or not as installed ({shown}), as after another distribution with a "
            f"package 'kafka' was uninstalled: {reinstall()}"
        )
    folder = shadowed_by()
    if folder is not None and not strangers:
        found.append(
            f"'import kafka' finds {folder}, which is not kafka-columnar's: remove it, or install into an "
            "environment of its own"
        )
    return found
