"""What a release says of its own files and of the packages that it pins."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from scripts.release import pins
from scripts.release.build import BuildError
from scripts.release.supply_chain import CHECKSUMS, audit, checksums, judged

pytestmark = pytest.mark.once


def test_checksums_are_those_of_sha256sum(tmp_path: Path) -> None:
    (tmp_path / "a.whl").write_bytes(b"one")
    (tmp_path / "b.tar.gz").write_bytes(b"two")
    for _ in range(2):  # the file does not contain itself
        assert checksums(tmp_path) == "SHA256SUMS has 2 files"
    command = ["sha256sum", "--check", "--strict", CHECKSUMS]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout == (
        "a.whl: OK\nb.tar.gz: OK\n"
    )
    (tmp_path / "a.whl").write_bytes(b"other")
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 1


def test_packages_with_advisories_stop_a_release() -> None:
    fine = {"name": "a", "version": "1", "vulns": []}
    unread = {"name": "b", "skip_reason": "Dependency not found on PyPI and could not be audited: b (1)"}
    bad = {"name": "c", "version": "2", "vulns": [{"id": "PYSEC-1", "fix_versions": ["2.1"]}]}
    assert judged([fine, fine]) == "no advisory for 2 pinned packages"
    some = judged([fine, unread])
    assert some.startswith("no advisory for 1 pinned packages; audit the other 1, whose advisories could not be read")
    with pytest.raises(BuildError, match=r"c 2: PYSEC-1, fixed in 2\.1"):
        judged([fine, bad])


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("requests.exceptions.ConnectionError: refused", None),
        ("ERROR: duplicate requirements", "pip-audit failed for a.txt"),
    ],
)
def test_only_an_outage_is_no_reason_to_stop(
    said: str, expected: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*given: Any, **options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(given, 1, "", said)

    monkeypatch.setattr(subprocess, "run", run)
    if expected is None:
        assert audit([tmp_path / "a.txt"]).endswith("could not be read: audit them before publishing")
    else:
        with pytest.raises(BuildError, match=expected):
            audit([tmp_path / "a.txt"])


def test_pinned_packages_that_do_not_fit_together_stop_a_release(tmp_path: Path) -> None:
    pinned = {
        "a": (
            "1.0",
            ['b<3,>=2; python_version >= "3"', "C.D>=1", "pip", 'e>9; extra == "x"', 'f; python_version < "3"'],
        ),
        "b": ("4.0.0", []),
        "c-d": ("1.0", []),
    }
    assert list(pins.together(pinned, pinned)) == ['a 1.0 requires b<3,>=2; python_version >= "3", but 4.0.0 is pinned']
    (missing,) = pins.together({"g": ("2", ["h>1"])}, pinned)
    assert missing == "g 2 requires h>1, which is not pinned"
    assert list(pins.together({"a": pinned["a"]}, {**pinned, "b": ("2.9", [])})) == []


def test_a_file_of_requirements_is_judged_with_the_packages_that_it_is_installed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"dev": {"a": ("1", ["b"]), "b": ("1", [])}, "docs": {"b": ("3", [])}, "peers": {"b": ("3", [])}}
    monkeypatch.setattr(pins, "reported", lambda path, report: files[path.stem])
    paths = [Path(f"{name}.txt") for name in files]
    assert pins.check(paths, tmp_path) == "4 pinned packages of 3 files fit together"
    files["dev"]["a"] = ("1", ["b<2"])
    with pytest.raises(BuildError, match=r"fit together:\ndocs\.txt: a 1 requires b<2, but 3 is pinned$"):
        pins.check(paths, tmp_path)


def test_a_file_whose_packages_cannot_be_built_here_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"dev": {"a": ("1", [])}, "kerberos": {"gssapi": ("1", ["b"])}}
    monkeypatch.setattr(pins, "reported", lambda path, report: files[path.stem])
    paths = [Path(f"{name}.txt") for name in files]
    monkeypatch.setattr("shutil.which", lambda program: None)
    assert pins.check(paths, tmp_path) == (
        "1 pinned packages of 1 files fit together; skipped kerberos.txt: krb5-config was not found "
        "(gssapi is built with MIT Kerberos: apt-get install gcc libkrb5-dev)"
    )
    monkeypatch.setattr("shutil.which", lambda program: f"/usr/bin/{program}")
    with pytest.raises(BuildError, match=r"kerberos\.txt: gssapi 1 requires b, which is not pinned"):
        pins.check(paths, tmp_path)
