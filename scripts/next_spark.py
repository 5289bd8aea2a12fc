"""Run the tests on Spark with the PySpark of requirements/spark-next.txt: a part of ``make spark-trials``.

It is installed in an environment of its own, `.venv-spark-4.3.0` say, which has everything else from the one that this
runs in. Arguments go to pytest. Where it cannot be installed, the reason is named; with ``CI=true`` that is a failure.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PINS = ROOT / "requirements" / "spark-next.txt"
TESTS = ("tests/integration", "tests/trials/test_standalone.py")
WHICH = "test_spark or test_the_same_interpreter"
"""The connectors side by side are among them, in part, where Spark's own can be had for that version."""


def main() -> int:
    """Run the tests; gives the exit status of pytest."""
    name = wanted(PINS)
    try:
        python = environment(ROOT, PINS)
    except subprocess.CalledProcessError as error:
        print(f"skipped: {name} cannot be installed here: {' '.join(map(str, error.cmd))} failed", file=sys.stderr)
        return int(os.environ.get("CI", "").lower() in ("1", "true"))
    print(f"== {name}", flush=True)
    command = [str(python), "-m", "pytest", *TESTS, "-k", WHICH, "-p", "no:cacheprovider", "--timeout", "900"]
    return subprocess.run([*command, *sys.argv[1:]], cwd=ROOT, check=False).returncode


def wanted(pins: Path) -> str:
    """The PySpark that a file of requirements has: `pyspark==4.3.0`, say."""
    return next(line.split()[0] for line in pins.read_text().splitlines() if line.startswith("pyspark=="))


def environment(folder: Path, pins: Path, install: Sequence[str] = ()) -> Path:
    """The Python of the environment, which is made in a folder where it is not there.

    Arguments:
        folder: where it is made.
        pins: the requirements.
        install: what `pip install` is told instead of installing these.

    Raises `CalledProcessError`.
    """
    venv = folder / f".venv-spark-{wanted(pins).partition('==')[2]}"
    python, ready = venv / "bin" / "python", venv / "ready"
    if ready.exists() and ready.read_text() == pins.read_text():
        return python
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--clear", str(venv)], check=True)
    what = install or ["--quiet", "--no-deps", "--no-compile", "-r", str(pins)]
    subprocess.run([sys.executable, "-m", "pip", "--python", str(python), "install", *what], check=True)
    # Its own packages come first; after them those of this environment, with what these put on the path.
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(venv)}))
    others = [sysconfig.get_path(name) for name in ("purelib", "platlib")]
    lines = "".join(f"import site; site.addsitedir({each!r})\n" for each in dict.fromkeys(others))
    (packages / "others.pth").write_text(lines)
    ready.write_text(pins.read_text())
    return python


if __name__ == "__main__":
    sys.exit(main())
