"""Logging in and out: what is needed, what is refused, and what each role may do."""

import asyncio
import base64
import datetime
import html
import json
import pathlib
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest

from kafka.broker import EmbeddedBroker
from kafka.ui.access import password_hashes, sessions, users_file
from kafka.ui.access.login_page import safe_next
from kafka.ui.access.one_token import OneToken
from kafka.ui.access.settings import AccessSettings
from kafka.ui.access.user import ROLES, Role
from kafka.ui.access.users_file import UsersFile, add
from unit.ui.ui_support import HOSTILE, Pages, pages_of, settings, text_of

pytestmark = pytest.mark.once

TOKEN = "a token of thirty-two characters"
PASSWORD = "correct horse"


@pytest.fixture(autouse=True)
def _cheap_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(password_hashes, "_COST", (16, 8, 1))
    monkeypatch.setattr(users_file, "_NOBODY", password_hashes.password_hash("of nobody"))


@pytest.fixture
def users(tmp_path: pathlib.Path) -> pathlib.Path:
    """A file with an operator, a viewer, and a program's token."""
    path = tmp_path / "users"
    add(path, "olga:operator", PASSWORD)
    add(path, "vera:viewer", f"{PASSWORD} of vera")
    return path


@pytest.fixture
async def guarded(broker: EmbeddedBroker, users: pathlib.Path, tmp_path: pathlib.Path) -> AsyncIterator[Pages]:
    """A UI that requires a login, and allows operators to write."""
    access = AccessSettings(OneToken(TOKEN, Role.VIEWER), UsersFile(users), audit_log=tmp_path / "audit")
    async with pages_of(settings(broker.bootstrap_servers, access=access, allow_writes=True)) as made:
        yield made


async def log_in(pages: Pages, name: str = "olga", password: str = PASSWORD, status: int = 303, **more: str) -> str:
    """Log in with a password; return where the browser is sent, or the page."""
    fields = {"login": "password", "name": name, "password": password, **more}
    answer = await pages.browser.post("/login", data=fields)
    assert answer.status_code == status, answer.text
    return answer.headers["location"] if status == 303 else answer.text


async def form_token(pages: Pages) -> str:
    """Return the token in the forms of the session."""
    found = re.search(r'name="token" value="(\w+)"', await pages.get("/"))
    assert found is not None
    return found[1]


def audit(tmp_path: pathlib.Path) -> list[dict[str, Any]]:
    """Return the audit log."""
    return [json.loads(line) for line in (tmp_path / "audit").read_text().splitlines()]


@pytest.mark.parametrize(
    "path",
    ["/", "/groups", "/messages?topic=a", "/topic?name=a", "/live/topics", "/static/live.js", "/nothing", "/login/x"],
)
async def test_nothing_is_shown_without_a_login(guarded: Pages, path: str) -> None:
    answer = await guarded.browser.get(path)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer ")
    assert "topic" not in answer.text.lower()
    page = await guarded.browser.get(path, headers={"accept": "text/html"})
    assert page.status_code == 303
    assert re.match(r"\.\.?/login\?next=%2F", page.headers["location"])
    assert (await guarded.browser.post("/topics", data={"name": "forged"})).status_code == 401


async def test_the_login_page_says_nothing_about_the_cluster(guarded: Pages) -> None:
    page = await guarded.get("/login", next=HOSTILE)
    assert "<script" not in page
    assert "<img" not in page
    assert "Topics" not in page
    assert await guarded.get("/static/style.css")


async def test_a_user_logs_in_writes_and_logs_out(guarded: Pages, tmp_path: pathlib.Path) -> None:
    assert await log_in(guarded, next="/groups?a=b") == "./groups?a=b"
    (cookie,) = guarded.browser.cookies.jar
    kept = dict(guarded.browser.cookies)
    assert cookie.has_nonstandard_attr("HttpOnly")
    assert cookie.get_nonstandard_attr("SameSite") == "lax"
    assert not cookie.secure
    page = await guarded.get("/")
    assert "olga, operator (writes allowed)" in page
    token = await form_token(guarded)
    assert "was created" in await guarded.post("/topics", token=token, name="by-olga")
    out = await guarded.browser.post("/logout", data={"token": token})
    assert (out.status_code, out.headers["location"]) == (303, "./login")
    await guarded.get("/", 401)
    guarded.browser.cookies.update(kept)
    await guarded.get("/", 401)
    lines = audit(tmp_path)
    assert [(each["action"], each["user"], each["role"], each["result"]) for each in lines] == [
        ("log in", "olga", "operator", "done"),
        ("create topic", "olga", "operator", "done"),
        ("log out", "olga", "operator", "done"),
    ]
    assert lines[1]["what"] == {"topic": "by-olga"}
    assert {each["from"] for each in lines} == {"127.0.0.1"}
    assert all(datetime.datetime.fromisoformat(each["time"]).tzinfo for each in lines)
    assert (tmp_path / "audit").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("name", "password"),
    [("olga", "wrong"), ("olga", ""), ("", PASSWORD), ("nobody", PASSWORD), ("vera", PASSWORD), (HOSTILE, "é" * 2000)],
)
async def test_a_wrong_password_is_refused(guarded: Pages, tmp_path: pathlib.Path, name: str, password: str) -> None:
    page = await log_in(guarded, name, password, 401)
    assert "The name, password or token is wrong." in text_of(f"</header>{page}")
    assert "<img" not in page
    assert not guarded.browser.cookies
    (line,) = audit(tmp_path)
    assert (line["action"], line["result"]) == ("log in", "failed")
    assert PASSWORD not in json.dumps(line)


@pytest.mark.parametrize("token", ["", "wrong", TOKEN[:-1], f"{TOKEN}x", TOKEN.upper(), "é"])
async def test_a_wrong_token_is_refused(guarded: Pages, token: str) -> None:
    answer = await guarded.browser.post("/login", data={"login": "token", "token": token})
    assert answer.status_code == 401
    headers = {"authorization": f"Bearer {token}".encode()}
    assert (await guarded.browser.get("/", headers=headers)).status_code == 401


async def test_the_right_token_is_accepted(guarded: Pages) -> None:
    answer = await guarded.browser.post("/login", data={"login": "token", "token": TOKEN})
    assert answer.headers["location"] == "./"
    assert "token, viewer (read-only)" in await guarded.get("/")


async def test_programs_send_their_credentials_with_each_request(
    guarded: Pages, users: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = add(users, "ci:viewer", None)
    hashed: list[str] = []
    scrypt = password_hashes.matches
    monkeypatch.setattr(users_file, "matches", lambda given, stored: hashed.append(given) or scrypt(given, stored))
    basic = base64.b64encode(f"olga:{PASSWORD}".encode()).decode()
    for header, shown in ((f"Bearer {token}", "ci, viewer"), (f"Basic {basic}", "olga, operator")):
        for _ in range(2):
            answer = await guarded.browser.get("/", headers={"authorization": header})
            assert answer.status_code == 200
            assert shown in answer.text
            assert "set-cookie" not in answer.headers
            assert "logout" not in answer.text
    assert hashed.count(PASSWORD) == 1
    await asyncio.to_thread(add, users, "olga:operator", "another password")
    assert (await guarded.browser.get("/", headers={"authorization": f"Basic {basic}"})).status_code == 401


@pytest.mark.parametrize(
    "header", ["Basic !", "Basic b2xnYQ==", "Digest a", "Bearer", "x", "Basic w7==", "Bearer \xff"]
)
async def test_an_invalid_authorization_header_is_refused(guarded: Pages, header: str) -> None:
    assert (await guarded.browser.get("/", headers={"authorization": header.encode("latin-1")})).status_code == 401


async def test_a_viewer_cannot_write(guarded: Pages, tmp_path: pathlib.Path) -> None:
    await log_in(guarded, "vera", f"{PASSWORD} of vera")
    page = await guarded.get("/")
    assert 'action="topics"' not in page
    told = await guarded.post("/topics", 403, token=await form_token(guarded), name="forged", role="operator")
    assert "The role viewer may only read" in told
    assert "<h1>Refused</h1>" in await guarded.get("/produce", 403)
    assert "forged" not in await guarded.ui.admin.list_topics()
    assert audit(tmp_path)[-1]["result"] == "refused"


async def test_a_role_cannot_be_taken_by_changing_the_cookie(guarded: Pages) -> None:
    await log_in(guarded, "vera", f"{PASSWORD} of vera")
    ((name, value),) = guarded.browser.cookies.items()
    payload, *rest = value.split(".")
    given = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    assert given["role"] == "viewer"
    given["role"] = "operator"
    forged = base64.urlsafe_b64encode(json.dumps(given).encode()).decode().rstrip("=")
    for wrong in (".".join([forged, *rest]), payload, f"{value}x", "", ".", value[:-2], "é"):
        guarded.browser.cookies.clear()
        answer = await guarded.browser.get("/", headers={"cookie": f"{name}={wrong}".encode()})
        assert answer.status_code == 401, wrong


async def test_the_file_of_users_decides_for_running_sessions(guarded: Pages, users: pathlib.Path) -> None:
    await log_in(guarded)
    token = await form_token(guarded)
    await asyncio.to_thread(add, users, "olga:viewer", PASSWORD)
    assert "olga, viewer (read-only)" in await guarded.get("/")
    await guarded.post("/topics", 403, token=token, name="forged")
    kept = [line for line in users.read_text().splitlines() if not line.startswith("olga")]
    users.write_text("\n".join(kept))
    await guarded.get("/", 401)
    users.write_text("nonsense")
    answer = await guarded.browser.get("/")
    assert answer.status_code == 500
    assert "line 1: expected NAME:ROLE:HASH" in answer.text


async def test_a_session_expires(guarded: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    assert guarded.ui.entrance.access is not None
    now = 1_000_000.0
    guarded.ui.entrance.access.sessions = sessions.Sessions(100.0, False, lambda: now)
    await log_in(guarded)
    now += 90
    await guarded.get("/")
    now += 11
    await guarded.get("/", 401)


async def test_a_form_of_another_session_is_refused(guarded: Pages) -> None:
    await log_in(guarded)
    first = await form_token(guarded)
    guarded.browser.cookies.clear()
    await log_in(guarded)
    assert await form_token(guarded) != first
    assert "Refused" in await guarded.post("/topics", 403, token=first, name="forged")
    assert (await guarded.browser.post("/logout", data={"token": first})).status_code == 403
    await guarded.get("/")


async def test_another_site_cannot_log_a_browser_in(guarded: Pages) -> None:
    fields = {"login": "password", "name": "olga", "password": PASSWORD}
    for headers in ({"origin": "http://attacker.example"}, {"sec-fetch-site": "cross-site"}):
        answer = await guarded.browser.post("/login", data=fields, headers=headers)
        assert answer.status_code == 403
        assert "set-cookie" not in answer.headers


async def test_each_login_has_a_new_session(guarded: Pages) -> None:
    await log_in(guarded)
    (first,) = guarded.browser.cookies.values()
    await log_in(guarded)
    assert guarded.browser.cookies.values() != [first]


async def test_guessing_is_slowed_down(guarded: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    assert guarded.ui.entrance.access is not None
    now = 0.0
    monkeypatch.setattr(guarded.ui.entrance.access.brake, "_clock", lambda: now)
    for _ in range(5):
        await log_in(guarded, "olga", "wrong", 401)
    page = await log_in(guarded, "olga", PASSWORD, 429)
    assert "Try again in 2 seconds." in page
    basic = base64.b64encode(f"vera:{PASSWORD} of vera".encode()).decode()
    assert (await guarded.browser.get("/", headers={"authorization": f"Basic {basic}"})).status_code == 429
    now += 2
    assert await log_in(guarded, "olga", PASSWORD) == "./"


async def test_a_page_that_is_followed_ends_with_its_session(guarded: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    poller = guarded.ui.poller
    poller._interval_s = 0.01
    assert guarded.ui.entrance.access is not None
    now = 1_000_000.0
    guarded.ui.entrance.access.sessions = sessions.Sessions(100.0, False, lambda: now)
    for ends in ("by logging out", "by its age"):
        await log_in(guarded)
        token = await form_token(guarded)
        now += 99 if ends == "by its age" else 0
        following = asyncio.create_task(guarded.browser.get("/live/topics"))
        while not poller._viewers and not following.done():
            await asyncio.sleep(0.01)
        if ends == "by logging out":
            await guarded.browser.post("/logout", data={"token": token})
        answer = await asyncio.wait_for(following, 60)
        assert answer.status_code in (200, 401)  # the latter if the machine is so busy that the session ended before
        assert not poller._viewers


@pytest.mark.parametrize(
    ("given", "followed"),
    [
        ("/groups?id=a%20b", "/groups?id=a%20b"),
        ("", "/"),
        ("groups", "/"),
        ("//attacker.example", "/"),
        ("///attacker.example", "/"),
        ("/\\attacker.example", "/"),
        ("/a\\..\\b", "/"),
        ("\\\\attacker.example", "/"),
        ("https://attacker.example", "/"),
        ("javascript:alert(1)", "/"),
        ("/\t/attacker.example", "/"),
        ("/\r\nLocation: https://attacker.example", "/"),
        ("http:attacker.example", "/"),
        ("/logout", "/"),
        ("/login", "/"),
    ],
)
async def test_a_login_leads_to_no_other_site(guarded: Pages, given: str, followed: str) -> None:
    assert safe_next(given) == followed
    assert await log_in(guarded, next=given) == f".{followed}"
    assert f'value="{html.escape(followed)}"' in await guarded.get("/login", next=given)


async def test_with_https_cookies_are_restricted_to_it(broker: EmbeddedBroker) -> None:
    access = AccessSettings(OneToken(TOKEN, Role.VIEWER), public_url="https://kafka.example")
    async with pages_of(settings(broker.bootstrap_servers, access=access)) as pages:
        answer = await pages.browser.post("/login", data={"login": "token", "token": TOKEN})
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith("__Host-kafka_ui_session_")
        for attribute in ("; HttpOnly", "; Secure", "; SameSite=lax", "; Path=/"):
            assert attribute in cookie
        assert "domain" not in cookie.lower()


def test_the_roles() -> None:
    assert ROLES == ("viewer", "operator")
    assert [each.writes for each in Role] == [False, True]
