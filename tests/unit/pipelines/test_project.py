"""New projects: the files, and that their pipeline, test cases and sample data fit together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafka.errors import IllegalArgumentError
from kafka.pipelines import load
from kafka.pipelines.checks import check_file
from kafka.pipelines.project import create
from kafka.pipelines.testing import load_cases
from kafka.pipelines.testing.case_files import check_names


def test_a_project_has_all_files_and_no_problems(tmp_path: Path) -> None:
    created = create(tmp_path / "new" / "flights", "broker:9092")
    assert sorted(path.name for path in created) == [
        ".gitignore",
        "README.md",
        "flights.jsonl",
        "flights.test.yaml",
        "flights.yaml",
    ]
    file = tmp_path / "new" / "flights" / "flights.yaml"
    assert check_file(file, servers=False).problems == ()
    declaration = load(file)
    assert declaration.kafka == {"bootstrap.servers": "broker:9092"}
    cases = load_cases(file.with_suffix(".test.yaml")).cases
    assert len([check_names(case, declaration) for case in cases]) == 3


def test_the_sample_data_has_broken_lines(tmp_path: Path) -> None:
    create(tmp_path)
    lines = (tmp_path / "flights.jsonl").read_text().splitlines()
    broken = 0
    for line in lines:
        try:
            json.loads(line)
        except ValueError:
            broken += 1
    assert (len(lines), broken) == (60, 2)


def test_the_readme_fits_on_a_page_and_names_only_existing_files(tmp_path: Path) -> None:
    created = {path.name for path in create(tmp_path)}
    text = (tmp_path / "README.md").read_text()
    assert len(text.splitlines()) < 60
    named = {part for part in text.replace("`", " ").split() if part.endswith((".yaml", ".jsonl"))}
    assert named <= created


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine")
    with pytest.raises(IllegalArgumentError, match=r"exist already: .*README.md"):
        create(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]
    assert (tmp_path / "README.md").read_text() == "mine"
    with pytest.raises(IllegalArgumentError, match="is a file"):
        create(tmp_path / "README.md")
