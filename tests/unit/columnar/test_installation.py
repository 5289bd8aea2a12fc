"""What the doctor says of an installation that another distribution has damaged."""

import base64
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

import pytest

import kafka
from kafka_columnar import stand_in

pytestmark = pytest.mark.once
SOURCE = pathlib.Path(__file__).resolve().parents[3] / "src"
OURS = {
    "kafka/__init__.py": "",
    "kafka/record/reader.cpython-311-x86_64-linux-gnu.so": "machine code",
    "kafka/errors.py": "NoBrokersAvailable = 1\n",
    "kafka/cli/__init__.py": "main = print\n",
}
THEIRS = {"kafka/__init__.py": "from kafka.errors import TheirError\n", "kafka/errors.py": "TheirError = 1\n"}


class Site:
    """A folder of installed packages, and a Python that has no other."""

    def __init__(self, folder: pathlib.Path, ours: dict[str, str] = OURS) -> None:
        self.folder = folder
        self.install("kafka-columnar", ours)
        shutil.copytree(
            SOURCE / "kafka_columnar", folder / "kafka_columnar", ignore=shutil.ignore_patterns("__pycache__")
        )

    def install(self, name: str, files: dict[str, str], *required: str, version: str = "1.0") -> None:
        records = []
        for path, content in files.items():
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / path).write_text(content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content.encode()).digest()).rstrip(b"=").decode()
            records.append(f"{path},sha256={digest},{len(content)}\n")
        info = self.folder / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        metadata = [f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}", *required]
        (info / "METADATA").write_text("\nRequires-Dist: ".join(metadata) + "\n")
        (info / "RECORD").write_text("".join(records))

    def uninstall(self, name: str, files: dict[str, str]) -> None:
        for path in files:
            (self.folder / path).unlink()
        shutil.rmtree(self.folder / f"{name.replace('-', '_')}-1.0.dist-info")

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-S", "-m", "kafka_columnar", *arguments]
        env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(self.folder)}
        return subprocess.run(
            command, cwd=self.folder, env=env, capture_output=True, text=True, check=False, timeout=60
        )


@pytest.fixture
def site(tmp_path: pathlib.Path) -> Site:
    return Site(tmp_path / "a site")


def test_a_whole_installation_has_nothing_wrong(site):
    done = site.run("doctor")
    assert done.returncode == 0, done.stderr
    assert "Wrong" not in done.stdout


@pytest.mark.parametrize("arguments", [["doctor"], ["broker"]])
def test_kafka_python_beside_us_is_found_by_its_records(site, arguments):
    site.install("kafka-python", THEIRS)
    (site.folder / "kafka" / "cli" / "__init__.py").write_text("raise ImportError('cannot import name')\n")
    done = site.run(*arguments)
    said = done.stdout + done.stderr
    assert done.returncode == 1
    assert "kafka-python is installed beside kafka-columnar, and 2 of its files are in the package 'kafka'" in said
    assert "pip uninstall kafka-python" in said
    assert "pip install --force-reinstall --no-deps" in said
    assert "it has written over 2 files of kafka-columnar (kafka/__init__.py, kafka/errors.py)" in said
    assert "Traceback" not in said


def test_every_file_that_was_written_over_is_named(site):
    theirs = {f"kafka/part{number}.py": "theirs" for number in range(5)}
    shutil.rmtree(site.folder)
    site = Site(site.folder, {**OURS, **dict.fromkeys(theirs, "ours")})
    site.install("kafka-python", {**theirs, "kafka/theirs_alone.py": ""})
    said = site.run("doctor").stdout
    assert "6 of its files are in the package 'kafka' too" in said
    assert "over 5 files of kafka-columnar (kafka/part0.py, kafka/part1.py, kafka/part2.py and 2 more)" in said
    assert [line for line in said.splitlines() if line.startswith("    ")] == [f"    {name}" for name in theirs]


def test_files_that_we_have_written_over_are_foretold(site, tmp_path):
    shutil.rmtree(site.folder)
    site.install("kafka-python", THEIRS)
    Site(site.folder)
    done = site.run("doctor")
    assert done.returncode == 1
    assert "kafka-columnar has written over 2 of them, which uninstalling kafka-python takes away" in done.stdout


@pytest.mark.parametrize(("content", "told"), [("other code", ".so"), (None, ".so (missing)")])
def test_compiled_modules_are_compared(site, content, told):
    (name,) = [each for each in OURS if each.endswith(".so")]
    if content is None:
        (site.folder / name).unlink()
    else:
        (site.folder / name).write_text(content)
    done = site.run("doctor")
    assert done.returncode == 1
    assert f"files of kafka-columnar are missing or not as installed ({name})" in done.stdout
    assert f"    {name.removesuffix('.so')}{told}" in done.stdout.splitlines()


def test_what_requires_kafka_python_is_told_and_a_stand_in_satisfies_it(site):
    site.install("a-handler", {}, "kafka-python (>=2.0.2,<3)", "psutil")
    site.install("a-tracer", {}, 'kafka-python<4.0,>=2.0; extra == "instruments"', "kafka-python-tools")
    done = site.run("doctor")
    assert done.returncode == 0
    assert "Note: a-handler requires kafka-python>=2.0.2,<3. kafka-columnar has the same package" in done.stdout
    assert "kafka doctor --stand-in kafka-python==2.3.3; then pip install ./kafka_python-2.3.3+columnar-" in done.stdout
    assert "a-tracer" not in done.stdout
    written = site.run("doctor", "--stand-in", "kafka-python==2.3.3")
    assert written.stdout == "written: pip install ./kafka_python-2.3.3+columnar-py3-none-any.whl\n"
    with zipfile.ZipFile(site.folder / "kafka_python-2.3.3+columnar-py3-none-any.whl") as wheel:
        assert wheel.testzip() is None
        wheel.extractall(site.folder)
    done = site.run("doctor")
    assert done.returncode == 0
    assert "Note: a-handler requires kafka-python>=2.0.2,<3: kafka-python 2.3.3+columnar stands in" in done.stdout


def test_where_kafka_python_is_there_for_another_package_the_doctor_says_both(site):
    site.install("kafka-python", THEIRS)
    site.install("a-handler", {}, "kafka-python")
    done = site.run("doctor")
    assert done.returncode == 1
    assert "Wrong: kafka-python is installed beside kafka-columnar" in done.stdout
    assert "Note: a-handler requires kafka-python. kafka-columnar has the same package" in done.stdout


@pytest.mark.parametrize(
    ("required", "version"),
    [
        ([], "3.0.12"),
        (["kafka-python"], "3.0.12"),
        (["kafka-python>=2.0.2,<3"], "2.3.3"),
        (["kafka-python>2.0.1", "kafka-python!=2.3.3,<2.4"], "2.0.2"),
        (["kafka-python~=2.0"], "2.3.3"),
        (["kafka-python~=2.0.0"], "2.0.2"),
        (["kafka-python==2.0.1"], "2.0.1"),
        (["kafka-python<=1.4.7"], "1.4.7"),
        (["kafka-python<1.0", "kafka-python>2.0"], "3.0.12"),
    ],
)
def test_a_stand_in_of_a_version_that_is_wanted_is_proposed(required, version):
    assert stand_in.fitting("kafka-python", required) == version


@pytest.mark.parametrize("asked", ["kafka-python", "requests==1.0", "kafka-python==../../x", "kafka-python==3.0.12+x"])
def test_a_stand_in_for_anything_else_is_refused(site, asked):
    done = site.run("doctor", "--stand-in", asked)
    assert done.returncode == 2
    assert f"such as kafka-python==3.0.12, not {asked!r}" in done.stderr
    assert list(site.folder.glob("*.whl")) == []


def test_a_stand_in_is_of_the_release_that_we_tell_programs_of():
    assert f"kafka-python=={kafka.__version__}" == stand_in.DEFAULT


@pytest.mark.parametrize("arguments", [["doctor"], ["broker"]])
def test_files_that_an_uninstallation_took_away_are_missed(site, arguments):
    site.install("kafka-python", OURS)
    site.uninstall("kafka-python", OURS)
    done = site.run(*arguments)
    said = done.stdout + done.stderr
    assert done.returncode == 1
    assert "files of kafka-columnar are missing or not as installed (kafka/__init__.py" in said
    assert "Traceback" not in said


def test_the_place_of_the_installation_is_what_to_install_again(site):
    info = site.folder / "kafka_columnar-1.0.dist-info"
    (info / "direct_url.json").write_text('{"url": "file:///home/me/my%20tree", "dir_info": {}}')
    (site.folder / "kafka" / "errors.py").write_text("changed = 1\n")
    assert "pip install --force-reinstall --no-deps '/home/me/my tree'" in site.run("doctor").stdout


def test_another_package_of_that_name_before_ours_is_found(site, tmp_path):
    other = tmp_path / "other"
    (other / "kafka").mkdir(parents=True)
    (other / "kafka" / "__init__.py").write_text("")
    code = (
        f"import sys; sys.path.insert(0, {str(other)!r})\n"
        "from kafka_columnar.installation import problems; print(problems()[0].text)"
    )
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(site.folder)}
    done = subprocess.run([sys.executable, "-S", "-c", code], env=env, capture_output=True, text=True, check=True)
    assert f"'import kafka' finds {other / 'kafka'}, which is not kafka-columnar's" in done.stdout
