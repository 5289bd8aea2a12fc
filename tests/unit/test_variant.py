"""The requested variant runs."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from kafka import _variant

COMPILED_IS_DEMANDED = any(os.environ.get(name, "") not in ("", "0") for name in ("CI", "KAFKA_REQUIRE_COMPILED"))


def variant_of_a_new_process(**env: str) -> str:
    """Return the variant of a new process, according to the modules it loads."""
    code = (
        "import importlib, json; from kafka import _variant\n"
        "for name in _variant.HOT_MODULES: importlib.import_module(name)\n"
        "print(_variant.variant())"
    )
    clean = {key: value for key, value in os.environ.items() if key != "KAFKA_PURE"}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, env={**clean, **env}, check=True).stdout.strip()


@pytest.mark.slow
def test_the_environment_forces_the_plain_variant() -> None:
    assert variant_of_a_new_process(KAFKA_PURE="1") == "plain"


@pytest.mark.skipif(not COMPILED_IS_DEMANDED, reason="nothing demands a compiler here")
def test_every_hot_module_is_compiled() -> None:
    assert variant_of_a_new_process() == "compiled"


def warnings_of_a_new_client(**env: str) -> str:
    code = (
        "import logging, sys; logging.basicConfig(format='%(message)s')\n"
        "from kafka import _variant\n"
        "if 'plain' in sys.argv: sys.meta_path.insert(0, _variant.PlainFinder)  # as if nothing had been compiled\n"
        "from kafka.cluster import ClusterClient\n"
        "from kafka.config import parse_admin\n"
        "for _ in range(2):\n"
        "    config = parse_admin({})\n"
        "    ClusterClient(config.connection, config.security)\n"
    )
    clean = {key: value for key, value in os.environ.items() if key != "KAFKA_PURE"}
    plain = [] if env else ["plain"]
    done = subprocess.run(
        [sys.executable, "-c", code, *plain], capture_output=True, text=True, env={**clean, **env}, check=True
    )
    return done.stderr


@pytest.mark.slow
def test_a_client_of_the_plain_variant_warns_once_unless_requested() -> None:
    assert warnings_of_a_new_client().count("is not compiled here and runs several times slower") == 1
    assert warnings_of_a_new_client(KAFKA_PURE="1") == ""


@pytest.mark.slow
def test_a_zero_does_not_force_the_plain_variant() -> None:
    assert variant_of_a_new_process(KAFKA_PURE="0") == variant_of_a_new_process()


def test_each_hot_module_exists() -> None:
    assert set(_variant.compiled_modules()) == set(_variant.HOT_MODULES)


@pytest.mark.slow
def test_this_process_runs_the_requested_variant() -> None:
    if _variant.plain_is_forced():
        assert set(_variant.compiled_modules().values()) == {False}
    else:
        assert _variant.variant() == variant_of_a_new_process()
