"""Names, arguments, defaults and errors that the documentation of kafka-python 1.0 lists."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
from pathlib import Path
from typing import Any

import pytest

import kafka.common
from kafka import errors

pytestmark = pytest.mark.once

LISTED = json.loads((Path(__file__).parents[2] / "data" / "legacy" / "package-1.0.json").read_text())


def find(name: str) -> Any:
    """Return the object with a dotted name, importing modules as far as they exist."""
    module, _, rest = name.partition(".")
    found = importlib.import_module(module)
    for part in rest.split("."):
        if inspect.ismodule(found) and not hasattr(found, part):
            importlib.import_module(f"{found.__name__}.{part}")
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("name", LISTED["signatures"])
def test_arguments_and_defaults(name: str) -> None:
    """Arguments may be positional or keywords; instead of an empty list, a default may be any empty collection."""
    function: Any = ast.parse(f"def f({LISTED['signatures'][name]}): pass").body[0]
    listed = function.args
    found = [each for each in inspect.signature(find(name)).parameters.values() if each.name != "self"]
    kinds = {each.kind for each in found}
    by_place = [each for each in found if each.kind is each.POSITIONAL_OR_KEYWORD]
    if listed.args and not by_place:
        assert {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD} <= kinds
        return
    assert [each.name for each in by_place[: len(listed.args)]] == [each.arg for each in listed.args]
    assert all(each.default is not each.empty for each in by_place[len(listed.args) :])
    for argument, default in zip(reversed(listed.args), reversed(listed.defaults), strict=False):
        expected = ast.literal_eval(default)
        actual = next(each.default for each in by_place if each.name == argument.arg)
        assert actual == expected or (expected == [] and actual == ())
    assert not listed.vararg or inspect.Parameter.VAR_POSITIONAL in kinds
    assert not listed.kwarg or inspect.Parameter.VAR_KEYWORD in kinds


@pytest.mark.parametrize("name", LISTED["errors"])
def test_errors(name: str) -> None:
    """Their codes, and whether to retry or to refresh the metadata."""
    error = getattr(kafka.common, name)
    assert issubclass(error, errors.KafkaError)
    assert issubclass(errors.KafkaError, RuntimeError)
    expected = LISTED["errors"][name]
    assert {attribute: getattr(error, attribute) for attribute in expected} == expected
    if expected.get("errno") is not None:
        assert issubclass(error, errors.BrokerResponseError)
        assert errors.for_code(expected["errno"]) is error
