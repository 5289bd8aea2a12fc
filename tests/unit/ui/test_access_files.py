"""The file of users, hashes, the brake on logins, and the audit log."""

import hmac
import json
import os
import pathlib
from typing import Any

import pytest

from kafka.ui.access import password_hashes
from kafka.ui.access.audit_log import DONE, AuditLog
from kafka.ui.access.login_brake import LoginBrake
from kafka.ui.access.one_token import OneToken
from kafka.ui.access.user import Role, User
from kafka.ui.access.users_file import UsersFile, add, parse

pytestmark = pytest.mark.once

TOKEN_HASH = password_hashes.token_hash("x")


@pytest.fixture(autouse=True)
def _cheap_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(password_hashes, "_COST", (16, 8, 1))


def test_users_are_added_replaced_and_found(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "users"
    add(path, "ada:operator", "first password")
    path.write_text(f"# people\n\n{path.read_text()}")
    token = add(path, "ci:viewer", None)
    users = UsersFile(path)
    before = users.version()
    assert add(path, "ada:viewer", "second password") == ""
    assert users.version() != before
    assert path.read_text().startswith("# people\n\nci:viewer:sha256$")
    assert path.stat().st_mode & 0o777 == 0o600
    assert users.by_password("ada", "first password") is None
    found = users.by_password("ada", "second password")
    assert found is not None
    assert (found.name, found.role) == ("ada", Role.VIEWER)
    by_token = users.by_token(token)
    assert by_token is not None
    assert (by_token.name, by_token.role) == ("ci", Role.VIEWER)
    assert users.by_password("ci", token) is None, "a token is not a password"
    assert users.by_token("second password") is None
    assert [users.role_of("ada", False), users.role_of("ada", True), users.role_of("x", True)] == [
        Role.VIEWER,
        None,
        None,
    ]
    assert "password" not in path.read_text()
    assert [each.name for each in tmp_path.iterdir()] == ["users"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "users has no users; add one with: kafka ui --users users --add-user NAME:ROLE"),
        ("ada", "users, line 1: expected NAME:ROLE:HASH"),
        ("# x\nada:admin:x", "users, line 2: expected a role (viewer or operator), got 'admin'"),
        ("ada:viewer:secret", "line 1: expected a hash as written by --add-user or --add-token"),
        ("ada:viewer:scrypt$16$8$1$AAAA$AAAA", "got a shortened one"),
        ("ada:viewer:scrypt$15$8$1$AAAA$AAAA", "expected a hash"),
        ("ada:viewer:scrypt$1073741824$8$1$AAAA$AAAA", "expected a hash"),
        ("ada:viewer:sha256$AAAA", "got a shortened one"),
        (":viewer:x", "expected a name of 1 to 100"),
        (f"ada:viewer:{TOKEN_HASH}\nada:viewer:{TOKEN_HASH}", "line 2: the user 'ada' is on an earlier line, too"),
    ],
)
def test_an_invalid_file_of_users_is_a_one_line_error(text: str, told: str) -> None:
    with pytest.raises(ValueError) as caught:
        parse(text, "users")
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "password", "told"),
    [
        ("ada", "long enough", "expected NAME:ROLE, such as alice:operator"),
        ("ada:admin", "long enough", "expected a role"),
        ("ada:viewer", "short", "expected a password of 8 to 1,024 characters, got 5"),
        ("#ada:viewer", "long enough", "does not begin with #"),
        ("a\nb:viewer", "long enough", "printable"),
    ],
)
def test_an_invalid_user_is_not_added(tmp_path: pathlib.Path, given: str, password: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        add(tmp_path / "users", given, password)
    assert not list(tmp_path.iterdir())


def test_a_missing_file_of_users_is_an_error(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match="cannot read the file of users"):
        UsersFile(tmp_path / "nothing")


def test_hashes_have_salt_and_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = password_hashes.password_hash("pass word")
    assert stored != password_hashes.password_hash("pass word")
    compared: list[tuple[Any, Any]] = []
    real = hmac.compare_digest
    monkeypatch.setattr(hmac, "compare_digest", lambda a, b: compared.append((a, b)) or real(a, b))
    for given, hashed in (("pass word", stored), ("pass worx", stored), ("x", TOKEN_HASH), ("y", TOKEN_HASH)):
        assert password_hashes.matches(given, hashed) == (given in ("pass word", "x"))
    one = OneToken("t" * 20, Role.VIEWER)
    assert one.matches("t" * 20)
    assert not one.matches("t" * 19)
    assert len(compared) == 6, "each comparison takes constant time"
    assert all(len(a) == len(b) for a, b in compared), "digests are compared, whose length says nothing"


def test_an_unknown_name_takes_as_long_as_a_known_one(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(tmp_path / "users", "ada:viewer", "pass word")
    users = UsersFile(tmp_path / "users")
    digests: list[str] = []
    real = password_hashes._digest
    monkeypatch.setattr(password_hashes, "_digest", lambda given, parts: digests.append(given) or real(given, parts))
    for name in ("ada", "nobody"):
        assert users.by_password(name, "wrong") is None
    assert digests == ["wrong", "wrong"]


def test_a_short_token_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 16 characters in KAFKA_UI_TOKEN, got 5"):
        OneToken("short", Role.VIEWER)
    assert len(OneToken("", Role.VIEWER).token) > 40
    assert OneToken("", Role.VIEWER).token != OneToken("", Role.VIEWER).token


def test_the_brake_doubles_the_wait_and_forgets() -> None:
    now = 0.0
    brake = LoginBrake(lambda: now)
    waits = []
    for _ in range(16):
        brake.failed("10.0.0.1", "ada")
        waits.append(brake.wait_s("10.0.0.1", ""))
    assert waits[:8] == [0, 0, 0, 0, 2, 4, 8, 16]
    assert max(waits) == 900
    assert brake.wait_s("10.0.0.2", "ada") == 0, "another address is not affected yet"
    for at in range(4):
        brake.failed(f"10.0.1.{at}", "ada")
    assert brake.wait_s("10.0.0.2", "ada") == 2, "many addresses cannot guess one name"
    brake.succeeded("ada")
    assert brake.wait_s("10.0.0.2", "ada") == 0
    assert brake.wait_s("10.0.0.1", "ada") > 0, "an own login does not release the address"
    now += 3601
    brake.failed("10.0.0.1", "")
    assert brake.wait_s("10.0.0.1", "") == 0


def test_the_brake_remembers_a_limited_number() -> None:
    brake = LoginBrake(lambda: 0.0)
    for at in range(10_100):
        brake.failed(f"address {at}", "")
    assert len(brake._failures) == 10_000


def test_the_audit_log_stays_one_line_per_entry(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "audit"
    log = AuditLog(path)
    user = User('a\n{"user": "b"}', Role.VIEWER, "password", "", "::1")
    log.add("create topic", {"topic": "t\r\n\u2028" + "x" * 1000, "partitions": 3}, DONE, user=user)
    path.rename(tmp_path / "rotated")
    log.add("create topic", {}, DONE)
    (first,) = (tmp_path / "rotated").read_text().splitlines()
    found = json.loads(first)
    assert found["user"] == user.name
    assert found["what"]["partitions"] == 3
    assert len(found["what"]["topic"]) == 300
    assert json.loads(path.read_text())["user"] == "anyone"
    AuditLog().add("create topic", {}, DONE)
    assert json.loads(capsys.readouterr().err)["action"] == "create topic"
    path.unlink()
    path.mkdir()
    log.add("create topic", {"topic": "lost"}, DONE)
    assert "cannot write to the audit log" in caplog.text
    assert "lost" in caplog.text
    with pytest.raises(OSError, match="directory"):
        AuditLog(path)


def test_a_line_cut_off_by_a_full_disk_does_not_spoil_the_next_one(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path, write = tmp_path / "audit", os.write
    log = AuditLog(path)
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:40]))
    log.add("delete topic", {"topic": "cut off"}, DONE)
    assert "cannot write to the audit log" in caplog.text
    assert "cut off" in caplog.text
    monkeypatch.setattr(os, "write", write)
    for name in ("next", "last"):
        log.add("delete topic", {"topic": name}, DONE)
    _, *rest = path.read_text().splitlines()
    assert [json.loads(line)["what"]["topic"] for line in rest] == ["next", "last"]


def test_an_audit_log_whose_reader_has_gone_does_not_fail_the_change(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Gone:
        def write(self, text: str) -> None:
            raise BrokenPipeError("the reader has gone")

    monkeypatch.setattr("kafka.ui.access.audit_log.sys.stderr", Gone())
    AuditLog().add("create topic", {"topic": "kept"}, DONE)
    assert "the reader has gone; the line was:" in caplog.text
    assert "kept" in caplog.text
