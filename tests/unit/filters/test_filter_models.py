"""Filters agree with reference models: conditions with SQLite, patterns with `re` and with SQLite's LIKE."""

from __future__ import annotations

import json
import re
import sqlite3
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kafka.filters import Filter, FilterError, FilterRecord
from kafka.filters.patterns import Like, Matches

NUMBERS = st.one_of(st.none(), st.integers(-3, 3), st.sampled_from([0.5, -1.25, 2**53 + 1]))
TEXTS = st.one_of(st.none(), st.text("ab%_", max_size=3))


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def comparisons() -> st.SearchStrategy[str]:
    """Conditions that mean the same in both languages; columns m and n contain numbers, s and t texts."""
    number = st.one_of(st.sampled_from(["m", "n"]), st.sampled_from(["-1", "0", "0.5", "2", "9007199254740993"]))
    text = st.one_of(st.sampled_from(["s", "t"]), st.text("ab%_'", max_size=2).map(quoted))
    operator = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])
    column = st.sampled_from(["m", "n", "s", "t"])
    return st.one_of(
        st.tuples(number, operator, number).map(" ".join),
        st.tuples(text, operator, text).map(" ".join),
        st.tuples(column, st.sampled_from(["is null", "is not null"])).map(" ".join),
        st.tuples(
            number, st.sampled_from(["in", "not in"]), st.lists(number, min_size=1, max_size=3).map(", ".join)
        ).map(lambda parts: f"{parts[0]} {parts[1]} ({parts[2]})"),
        st.tuples(st.sampled_from(["s", "t"]), st.sampled_from(["like", "not like"]), st.text("ab%_", max_size=4)).map(
            lambda parts: f"{parts[0]} {parts[1]} {quoted(parts[2])}"
        ),
    )


CONDITIONS = st.recursive(
    comparisons(),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(" ".join),
        inner.map(lambda each: f"not ({each})"),
        inner.map(lambda each: f"({each})"),
    ),
    max_leaves=6,
)


@pytest.fixture(scope="module")
def database() -> Any:
    connection = sqlite3.connect(":memory:")
    connection.execute("pragma case_sensitive_like = on")
    yield connection
    connection.close()


@given(condition=CONDITIONS, m=NUMBERS, n=NUMBERS, s=TEXTS, t=TEXTS, omits=st.booleans())
@settings(max_examples=120, deadline=None)
def test_conditions_have_the_result_of_sql(
    database: Any, condition: str, m: Any, n: Any, s: Any, t: Any, omits: bool
) -> None:
    fields = {"m": m, "n": n, "s": s, "t": t}
    sql = re.sub(r"'[^']*'|\b([mnst])\b", lambda found: f":{found[1]}" if found[1] else found[0], condition)
    [[expected]] = database.execute(f"select {sql}", fields)
    ours = re.sub(r"'[^']*'|\b([mnst])\b", lambda found: f"value.{found[1]}" if found[1] else found[0], condition)
    document = {name: value for name, value in fields.items() if value is not None or not omits}
    for value in (json.dumps(document).encode(), document):
        found = Filter(ours).result(FilterRecord(value=value))
        assert found == (None if expected is None else bool(expected)), ours


@given(st.text(max_size=60))
@settings(max_examples=120, deadline=None)
def test_any_text_is_a_filter_or_an_error_within_the_text(text: str) -> None:
    caught = None
    try:
        Filter(text).matches(FilterRecord(key=b"1", value=b"{}"))
    except FilterError as error:
        caught = error
    if caught is not None:
        assert 0 <= caught.position <= len(text)
        assert len(caught.excerpt()) == 2


PATTERNS = st.recursive(
    st.sampled_from(
        [
            "a",
            "b",
            ".",
            "[ab]",
            "[^a]",
            r"\w",
            r"\d",
            r"\s",
            r"\W",
            "^",
            "$",
            r"\b",
            r"\B",
            r"\A",
            r"\Z",
            "-",
            "é",
            r"\n",
            "",
        ]
    ),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda pair: f"(?:{pair[0]}|{pair[1]})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{0,2}?", "{2,}", "*?"])).map(
            lambda pair: f"({pair[0]}){pair[1]}"
        ),
        inner.map(lambda each: f"(?i:{each})"),
        inner.map(lambda each: f"(?s:{each})"),
        inner.map(lambda each: f"(?m:{each})"),
    ),
    max_leaves=6,
)


@given(pattern=PATTERNS, text=st.text("abAB1 \n-éÉ", max_size=8))
@settings(max_examples=200, deadline=None)
def test_regular_expressions_find_what_re_finds(pattern: str, text: str) -> None:
    assume(text or "B" not in pattern)  # whether \\B matches an empty text depends on the version of Python
    assert Matches(pattern).finds(text) == (re.search(pattern, text) is not None)


@pytest.mark.parametrize(
    "pattern",
    ["(a+)+b", "(a|a)*b", "(a|ab)*c", "(.*a){12}b", ".*.*.*.*x", "(a?){40}a{40}b", "(?i)(x*)*(x*)*(x*)*y", "(a*)*$b"],
)
def test_catastrophic_patterns_take_linear_time(pattern: str) -> None:
    """With `re`, each of these takes longer than a test run."""
    assert Matches(pattern).finds("a" * 5_000) is False


def test_like_takes_linear_time() -> None:
    assert Like("%a" * 200 + "%b").finds("a" * 5_000) is False
    assert Like("%a_c%").finds("xabcx")
    assert not Like("a%a").finds("a")
    assert Like("a\\%\\_\\\\").finds("a%_\\")
    assert Like("^[.]\n%").finds("^[.]\n")
