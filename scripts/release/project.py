"""Checks what a public project has in addition to its code: workflows, issue forms and commit hooks."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from scripts.release.build import ROOT, BuildError, run

GITHUB = ROOT / ".github"
FORMS = "ISSUE_TEMPLATE/config.yml"
SCHEMAS = {
    "github-workflows": "workflows/*.yml",
    "github-issue-config": FORMS,
    "github-issue-forms": "ISSUE_TEMPLATE/*.yml",
}
"""By the name of a schema that check-jsonschema brings: what has to be of that form."""
HOOKS = ROOT / ".pre-commit-config.yaml"


def check() -> Iterator[str]:
    """Check all of it; gives a line for each part, and raises `BuildError` at the first fault."""
    checked = 0
    for schema, pattern in SCHEMAS.items():
        files = [file for file in sorted(GITHUB.glob(pattern)) if pattern == FORMS or file != GITHUB / FORMS]
        command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}"]
        run([*command, *map(str, files)], ROOT)
        checked += len(files)
    yield f"{checked} workflows and forms of issues are valid"
    if told := list(faults()):
        raise BuildError("; ".join(told))
    run([sys.executable, "-m", "pre_commit", "validate-config", str(HOOKS)], ROOT)
    yield "what workflows and hooks of commits run is there"


def faults() -> Iterator[str]:
    """Yield what workflows and hooks refer to and the tree lacks."""
    for file in sorted(GITHUB.glob("workflows/*.yml")):
        text = file.read_text(encoding="utf-8")
        yield from unknown_targets(file.name, text)
        yield from other_cibuildwheels(file.name, text)
    yield from missing_hooks(HOOKS.read_text(encoding="utf-8"))


def unknown_targets(name: str, workflow: str) -> Iterator[str]:
    """Targets of make that the text of a workflow calls and the Makefile does not have."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([\w-]+):", makefile, re.MULTILINE))
    for target in re.findall(r"run: make ([\w-]+)", workflow):
        if target not in targets:
            yield f"{name} runs 'make {target}', which the Makefile does not have"


def other_cibuildwheels(name: str, workflow: str) -> Iterator[str]:
    """Yield workflows that build with another cibuildwheel than the pinned one, which lists the builds here."""
    pins = (ROOT / "requirements" / "release.txt").read_text(encoding="utf-8")
    pinned = re.findall(r"^cibuildwheel==(\S+)", pins, re.MULTILINE)
    for version in re.findall(r"uses: pypa/cibuildwheel@v(\S+)", workflow):
        if [version] != pinned:
            yield f"{name} builds with cibuildwheel {version}, requirements/release.txt pins {', '.join(pinned)}"


def missing_hooks(text: str) -> Iterator[str]:
    """Yield files that the hooks of a configuration run and that do not exist."""
    for entry in re.findall(r"entry: (.+)", text):
        program, *arguments = entry.split()
        files = [program, *(each for each in arguments if each.endswith(".py"))]
        if arguments[:1] == ["-m"]:
            files.append(f"{arguments[1].replace('.', '/')}/__main__.py")
        yield from (f"a hook runs {file}, which is not there" for file in files if not (ROOT / file).exists())
