"""`kafka consume --where` without quotes: the shell redirects the output, or splits the condition."""

import os
from pathlib import Path

import pytest

from kafka.cli.consume import unquoted
from unit.cli.cli_support import Cli

pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    ("name", "whole"),
    [("10", '"value.amount > 10"'), ("9.99", '"value.amount > 9.99"'), ("=10", '"value.amount >=10"')],
)
def test_a_field_alone_with_output_to_an_operand_is_refused(
    name: str, whole: str, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unquoted, "output_file", lambda: name)
    error = cli.fails("consume", "t", "--where", "value.amount", status=2)
    assert "expected a condition, found only the field 'value.amount'" in error
    assert f"in quotes, such as --where {whole}, and remove the file {name!r}" in error


def test_a_word_may_be_a_file_so_that_a_note_is_enough(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(unquoted, "output_file", lambda: "paid")
    unquoted.check_unquoted("value.paid")
    assert "the output goes to the file 'paid'; if that is a part of the condition" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("condition", "name"),
    [("value.amount > 10", "10"), ("value.paid", "paid.jsonl"), ("value.paid", None), ("true", "10")],
)
def test_other_conditions_and_files_are_accepted(
    condition: str, name: str | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(unquoted, "output_file", lambda: name)
    unquoted.check_unquoted(condition)
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="only Linux has /proc")
def test_the_name_of_the_output_file(tmp_path: Path) -> None:
    with (tmp_path / "10").open("w") as file:
        assert unquoted.output_file(file.fileno()) == "10"
    reading, writing = os.pipe()
    try:
        assert unquoted.output_file(writing) is None
    finally:
        os.close(reading)
        os.close(writing)
    assert unquoted.output_file(writing) is None  # closed


def test_topics_may_have_such_names_without_a_condition(cli: Cli) -> None:
    cli("produce", "like", stdin="a\n")
    assert cli("consume", "like") == "a\n"


@pytest.mark.parametrize("word", ["=", "and", "LIKE"])
def test_words_of_a_condition_are_no_topics(cli: Cli, word: str) -> None:
    error = cli.fails("consume", "t", "--where", "value.status", word, "PAID", status=2)
    assert f"expected names of topics, found {word!r}: put the whole condition of --where in quotes" in error
