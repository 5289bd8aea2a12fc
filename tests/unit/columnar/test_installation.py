"""What the doctor says of an installation that another distribution has damaged."""

import base64
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[3] / "src"
OURS = {
    "kafka/__init__.py": "",
    "kafka/errors.py": "NoBrokersAvailable = 1\n",
    "kafka/cli/__init__.py": "main = print\n",
}
THEIRS = {"kafka/__init__.py": "from kafka.errors import TheirError\n", "kafka/errors.py": "TheirError = 1\n"}


class Site:
    """A folder of installed packages, and a Python that has no other."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.install("kafka-columnar", OURS)
        shutil.copytree(
            SOURCE / "kafka_columnar", folder / "kafka_columnar", ignore=shutil.ignore_patterns("__pycache__")
        )

    def install(self, name: str, files: dict[str, str]) -> None:
        records = []
        for path, content in files.items():
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / path).write_text(content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content.encode()).digest()).rstrip(b"=").decode()
            records.append(f"{path},sha256={digest},{len(content)}\n")
        info = self.folder / f"{name.replace('-', '_')}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
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
    assert "Traceback" not in said


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
        "from kafka_columnar.installation import problems; print(problems())"
    )
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(site.folder)}
    done = subprocess.run([sys.executable, "-S", "-c", code], env=env, capture_output=True, text=True, check=True)
    assert f"'import kafka' finds {other / 'kafka'}, which is not kafka-columnar's" in done.stdout
