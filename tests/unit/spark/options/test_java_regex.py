"""Java's regular expressions in Python."""

import re

import pytest

from kafka.spark.options.java_regex import translate


def finds(pattern: str, name: str) -> bool:
    return re.compile(translate(pattern), re.ASCII).search(name) is not None


@pytest.mark.parametrize(
    ("pattern", "found", "not_found"),
    [
        (r"^sm", "small", "resmall"),
        (r"t\p{Digit}+$", "t42", "t42x"),
        (r"^\p{Alpha}+$", "flights", "flights-1"),
        (r"^[\p{Lower}-]+$", "a-b", "a-B"),
        (r"^\P{Digit}+$", "abc", "a1"),
        (r"^[^\p{Punct}]+$", "abc", "a.b"),
        (r"^\pL+$", "abc", "a1"),
        (r"^\p{IsAlphabetic}\p{javaLowerCase}$", "Ab", "AB"),
        (r"^a*+b$", "aab", "aac"),
        (r"^(?>a+)b", "aab", "ab"[1:]),
        (r"^\Qa.b\E.c$", "a.bxc", "aXbxc"),
        (r"^a\Q.", "a.", "ab"),
        (r"^(?<x>.)\k<x>$", "aa", "ab"),
        (r"(?i)^FLIGHTS$", "flights", "flight"),
        (r"^(?i:A)b$", "ab", "aB"),
        (r"^x\z", "x", "xy"),
        (r"^x\Z", "x", "xy"),
        (r"^\x{61}$", "a", "b"),
        (r"^[a&b|~]+$", "a", "c"),
        (r"^[]a]$", "a", "b"),
        (r"^\d\w\.\S$", "1a.b", "1a-b"),
        (r"a|b", "xb", "c"),
    ],
)
def test_a_pattern_means_what_it_means_in_java(pattern, found, not_found):
    assert finds(pattern, found)
    assert not finds(pattern, not_found)


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("[a-z&&[^bc]]", r"\[a&&b\], is not supported"),
        ("[a[b]]", r"\[a\[b\]\], is not supported"),
        (r"\p{IsGreek}", r"\\p{IsGreek} is not supported"),
        (r"\p", r"\\p lacks the name"),
        (r"\h+", r"\\h is not supported"),
        (r"a\b{g}", r"\\b is not supported"),
        ("(?U)x", "the flag 'U' in .* is not supported"),
        ("(?<=a+)b", "look-behind"),
        ("[a", "not closed"),
        ("(", "unterminated"),
        ("x\\", "backslash"),
        (r"\x{zz}", "hexadecimal"),
    ],
)
def test_syntax_that_python_does_not_support_is_rejected_by_name(pattern, said):
    with pytest.raises(ValueError, match=said):
        translate(pattern)
