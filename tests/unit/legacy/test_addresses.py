"""The old import paths: `kafka._old_names.OldPaths` serves them from a table, and they behave like files."""

from __future__ import annotations

import importlib
import importlib.resources
import inspect
import os
import pickle
import pkgutil
import subprocess
import sys
import traceback
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

import kafka
import kafka.protocol.admin as an_old_package
from kafka._old_names import OldPaths, install_old_paths
from kafka.legacy.addresses import ADDRESSES, file_of, source_of

pytestmark = pytest.mark.once

SOURCE = Path(kafka.__file__).parents[1]


def run(code: str, *arguments: str, **env: str) -> str:
    """Run a program in a new process, and return its output."""
    command = [sys.executable, "-W", "error", *(arguments or ("-c", code))]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, env={**os.environ, **env})
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("path", ADDRESSES)
def test_each_path_has_the_names_in_its_row(path: str) -> None:
    module = importlib.import_module(path)
    assert module.__doc__ == ADDRESSES[path].doc
    assert hasattr(module, "__path__") == file_of(path).endswith("/__init__.py")
    given: dict[str, object] = {}
    exec(f"from {path} import *", given)
    assert ("__all__" in vars(module)) == ("*" not in ADDRESSES[path].names.split())
    assert set(given) - {"__builtins__"} == set(getattr(module, "__all__", given)) - {"__builtins__"}
    assert "_Any" not in given


def test_a_row_can_rename_and_hide_names() -> None:
    common, client, codec = map(importlib.import_module, ("kafka.common", "kafka.client_async", "kafka.codec"))
    assert common.OffsetsLoadInProgressCode is kafka.errors.CoordinatorLoadInProgressError
    assert client.selectors.__name__ == "selectors"
    assert "selectors" not in client.__all__
    assert codec._detect_xerial_stream(b"") is False


def test_the_finder_is_last_and_installed_once() -> None:
    install_old_paths()
    assert sys.meta_path.count(OldPaths) == 1
    assert run("import sys, kafka; print(sys.meta_path[-1].__name__)") == "OldPaths\n"


@pytest.mark.parametrize("name", ["kafka.commons", "kafka.legacy.common", "kafka.protocol.nothing", "json.common"])
def test_other_names_are_left_to_other_finders(name: str) -> None:
    assert OldPaths.find_spec(name, [str(SOURCE / "kafka")]) is None


def test_paths_not_in_the_table_raise_the_usual_error() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'kafka\.protocol\.nothing'"):
        importlib.import_module("kafka.protocol.nothing")
    assert find_spec("kafka.protocol.nothing") is None
    with pytest.raises(AttributeError, match=r"module 'kafka\.util' has no attribute 'nothing'"):
        importlib.import_module("kafka.util").nothing  # noqa: B018


@pytest.mark.slow
def test_the_table_is_only_loaded_for_old_paths() -> None:
    code = "import sys, kafka, kafka.errors\n{}\nprint('kafka.legacy.addresses' in sys.modules)"
    assert run(code.format("from kafka import KafkaConsumer, KafkaProducer, KafkaAdminClient")) == "False\n"
    assert run(code.format("from kafka.common import KafkaError")) == "True\n"


def test_a_path_can_be_reloaded() -> None:
    module = importlib.import_module("kafka.consumer.simple")
    before = module.SimpleConsumer
    del module.SimpleConsumer
    assert importlib.reload(module) is module
    assert module.SimpleConsumer is before


def test_source_is_available() -> None:
    module = importlib.import_module("kafka.conn")
    assert inspect.getsource(module) == source_of("kafka.conn")
    assert module.__file__ == str(SOURCE / "kafka" / "conn.py")
    with pytest.raises(FileNotFoundError):
        pkgutil.get_data("kafka.protocol", "nothing.txt")


def test_tracebacks_show_source_lines() -> None:
    try:
        importlib.import_module("kafka.conn").nothing  # noqa: B018
    except AttributeError as error:
        shown = "".join(traceback.format_exception(error))
    assert "return _old_names.of_a_package(__name__, name, {})" in shown


def test_a_package_has_submodules_as_attributes_and_no_resources() -> None:
    assert not importlib.resources.files("kafka.protocol").joinpath("nothing.txt").is_file()
    assert an_old_package is sys.modules["kafka.protocol.admin"]
    assert kafka.protocol.admin.acl is importlib.import_module(".acl", "kafka.protocol.admin")


def test_a_class_is_pickled_by_its_old_path() -> None:
    request = kafka.protocol.metadata.MetadataRequest[1]
    assert request.__module__ == "kafka.protocol.metadata"
    data = pickle.dumps(request)
    loaded = run(f"import pickle; print(pickle.loads({data!r}))")
    assert loaded == f"{request!r}\n"


@pytest.mark.slow
def test_modules_can_be_run_but_packages_cannot() -> None:
    run("", "-m", "kafka.util")
    run("", "-m", "kafka.protocol.fetch")
    command = [sys.executable, "-m", "kafka.protocol"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert "'kafka.protocol' is a package and cannot be directly executed" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("pure", ["", "1"])
def test_paths_are_served_from_an_archive(tmp_path: Path, pure: str) -> None:
    """For example with Spark's ``--py-files``, or in an application in one file."""
    archive = tmp_path / "kafka.zip"
    with zipfile.ZipFile(archive, "w") as out:
        for file in (SOURCE / "kafka").rglob("*.py"):
            out.write(file, file.relative_to(SOURCE))
    code = (
        f"import sys; sys.path.insert(0, {str(archive)!r})\n"
        "import kafka, kafka.protocol.admin as admin\n"
        "from kafka.vendor.six.moves import range\n"
        "from kafka import SimpleProducer, common\n"
        "print(kafka.__file__, common.__file__, admin.CreateTopicsRequest[0].__name__)"
    )
    folder = archive / "kafka"
    printed = run(code, KAFKA_PURE=pure)
    assert printed == f"{folder / '__init__.py'} {folder / 'common.py'} CreateTopicsRequest_v0\n"
