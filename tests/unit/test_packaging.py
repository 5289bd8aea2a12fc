"""What a package index and pip see of the project."""

import pathlib
import re
import tomllib

import pytest
from scripts.long_description import long_description
from scripts.release import project

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_the_readme_links_to_every_guide_that_it_names() -> None:
    text = (ROOT / "README.md").read_text()
    targets = [target for target in re.findall(r"\]\(([^)]*)\)", text) if not target.startswith("https://")]
    assert [target for target in targets if not (ROOT / target).is_file()] == []
    assert re.findall(r"`(?:docs/)?[A-Z_]+\.md`", text) == []
    assert "docs/START.md" in targets


def test_the_long_description_has_no_link_that_only_works_in_the_repository() -> None:
    readme = (ROOT / "README.md").read_text()
    text = long_description(readme, PROJECT.get("urls", {}).get("Repository", ""))
    links = re.findall(r"\]\(([^)]*)\)", text)
    assert [link for link in links if not link.startswith("https://")] == []
    assert "`docs/START.md` is a five-minute tour" in text
    assert 'kafka = {"kafka.bootstrap.servers": "localhost:9092"}' in text, "programs stay as they are"
    assert readme.count("```") == text.count("```")


def test_relative_links_lead_to_the_repository_if_it_is_known() -> None:
    readme = "See [A.md](docs/A.md#x), [it](b.md), [c](https://c.org), [below](#d).\n```python\na[0](b)\n```\n"
    assert long_description(readme, "https://host/we/it") == (
        "See [A.md](https://host/we/it/blob/main/docs/A.md#x), [it](https://host/we/it/blob/main/b.md), "
        "[c](https://c.org), [below](#d).\n```python\na[0](b)\n```\n"
    )
    assert long_description(readme) == (
        "See `docs/A.md`, it (`b.md`), [c](https://c.org), below.\n```python\na[0](b)\n```\n"
    )
    with pytest.raises(ValueError, match=r"relative image, which no package index can show: p\.png"):
        long_description("![p](p.png)")


def test_the_readme_names_only_extras_that_exist() -> None:
    named = set(re.findall(r"pip install '\.\[(\w+)\]'", (ROOT / "README.md").read_text()))
    assert named
    assert named <= PROJECT["optional-dependencies"].keys()


def test_only_systems_that_the_broker_runs_on_are_promised() -> None:
    systems = [line for line in PROJECT["classifiers"] if line.startswith("Operating System")]
    assert systems == ["Operating System :: POSIX"]


def test_workflows_and_hooks_of_commits_run_what_is_there() -> None:
    assert list(project.faults()) == []


def test_what_they_run_and_is_not_there_is_found() -> None:
    assert list(project.unknown_targets("a.yml", "- run: make chekc\n- run: make check")) == [
        "a.yml runs 'make chekc', which the Makefile does not have"
    ]
    (other,) = project.other_cibuildwheels("a.yml", "uses: pypa/cibuildwheel@v0.1")
    assert other.startswith("a.yml builds with cibuildwheel 0.1, requirements/release.txt pins ")
    runs = ("scripts/none.py --check", "-m scripts.nothing", "-m scripts.reference")
    hooks = "\n".join(f"entry: Makefile {each}" for each in runs)
    assert list(project.missing_hooks(hooks)) == [
        "a hook runs scripts/none.py, which is not there",
        "a hook runs scripts/nothing/__main__.py, which is not there",
    ]
