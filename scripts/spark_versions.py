"""Run tests on Spark with the PySpark versions of requirements/spark-*.txt, each in its own environment.

`.venv-spark-4.0.5`, say, has that PySpark, and everything else from the environment that this runs in. The packages are
kept in the cache, so that each is downloaded once on a machine. ``make test`` runs the quick tests, with the versions
before that of dev.txt; ``make spark-trials`` runs the tests on Spark with these and with the one after it. Where a
PySpark cannot be installed, the reason is named; with ``CI=true`` that is a failure.

Arguments that this does not know go to pytest.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from harness.pins import PinsError, pinned_folder  # noqa: E402  # once they are on the path

VERSIONS = ("3.5", "4.0", "4.1", "next")
OLDER = ("4.0", "4.1")
QUICK = ("tests/spark_trials/versions/test_quick.py",)
WITHOUT_SOURCES = ("tests/spark_trials/versions/test_without_sources.py",)
FULL = (
    ("tests/spark_trials/versions/test_quick.py", "tests/spark_trials/versions/test_checkpoints.py"),
    ("tests/integration/spark", "tests/spark_trials/cluster/test_standalone.py::test_the_same_interpreter"),
)
"""The tests of each run of pytest: a JVM keeps the environment of its first session.

They include some comparisons with Spark's own connector, if it is available for the version.
"""

OTHER_PYTHON = "KAFKA_OTHER_SPARK_PYTHON"
"""Names, for the tests, the Python of the environment that this runs in."""
LEFT_OPEN = ("-W", "ignore:unclosed <socket:ResourceWarning")
"""PySpark 4.0 and 4.1 leave the sockets open over which `collect()` gets its rows."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tests with one version after the other; gives the last exit status of pytest that is not 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a batch, a stream and a write, with older versions alone")
    parser.add_argument("--versions", help=f"those to run, with commas between: {','.join(VERSIONS)}")
    given, others = parser.parse_known_args(arguments)
    chosen = given.versions.split(",") if given.versions else OLDER if given.quick else VERSIONS
    failed = 0
    for version in chosen:
        full = (WITHOUT_SOURCES,) if version == "3.5" else FULL
        for tests in (QUICK,) if given.quick else full:
            failed = run(ROOT / "requirements" / f"spark-{version}.txt", [*tests, *others]) or failed
    return failed


def run(pins: Path, arguments: Sequence[str]) -> int:
    """Run pytest with the PySpark of a file of requirements; gives its exit status."""
    name = wanted(pins)
    try:
        python = environment(ROOT, pins, pinned_folder(pins))
    except PinsError as error:
        print(f"skipped: {name} cannot be installed here: {error}", file=sys.stderr)
        return int(os.environ.get("CI", "").lower() in ("1", "true"))
    print(f"== {name}", flush=True)
    command = [str(python), "-m", "pytest", "-p", "no:cacheprovider", "--timeout", "900", *LEFT_OPEN, *arguments]
    env = {**os.environ, OTHER_PYTHON: sys.executable}
    return subprocess.run(command, cwd=ROOT, env=env, check=False).returncode


def wanted(pins: Path) -> str:
    """The PySpark that a file of requirements has: `pyspark==4.3.0`, say."""
    return next(line.split()[0] for line in pins.read_text().splitlines() if line.startswith("pyspark=="))


def environment(folder: Path, pins: Path, packages: Path) -> Path:
    """The Python of the environment, which is made in a folder where it is not there.

    Arguments:
        folder: where it is made.
        pins: the requirements.
        packages: the folder with what these install, which takes precedence over this environment's.
    """
    venv = folder / f".venv-spark-{wanted(pins).partition('==')[2]}"
    python, ready = venv / "bin" / "python", venv / "ready"
    if ready.exists() and ready.read_text() == str(packages):
        return python
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--clear", str(venv)], check=True)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(venv)}))
    for each in packages.iterdir():
        if each.name != "bin":
            (site / each.name).symlink_to(each)
    # Its own packages come first; after them those of this environment, with what these put on the path.
    others = [sysconfig.get_path(name) for name in ("purelib", "platlib")]
    lines = "".join(f"import site; site.addsitedir({each!r})\n" for each in dict.fromkeys(others))
    (site / "others.pth").write_text(lines)
    ready.write_text(str(packages))
    return python


if __name__ == "__main__":
    sys.exit(main())
