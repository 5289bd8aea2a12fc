"""What a package index and pip see of the project."""

import pathlib
import re
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_the_readme_has_no_links_that_are_dead_on_an_index_page() -> None:
    targets = re.findall(r"\]\(([^)]*)\)", (ROOT / "README.md").read_text())
    assert [target for target in targets if not target.startswith("https://")] == []


def test_the_readme_names_only_extras_that_exist() -> None:
    named = set(re.findall(r"pip install '\.\[(\w+)\]'", (ROOT / "README.md").read_text()))
    assert named
    assert named <= PROJECT["optional-dependencies"].keys()


def test_only_systems_that_the_broker_runs_on_are_promised() -> None:
    systems = [line for line in PROJECT["classifiers"] if line.startswith("Operating System")]
    assert systems == ["Operating System :: POSIX"]
