"""Which requests are accepted, and what browsers may do with the pages."""

import pytest

from kafka.broker import EmbeddedBroker
from kafka.ui.guard import host_of
from kafka.ui.shared_state import UiSettings
from unit.ui.ui_support import Pages, pages_of, settings

pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8085", 200),
        ("localhost:8085", 200),
        ("LOCALHOST", 200),
        ("[::1]:8085", 200),
        ("192.168.1.7:80", 200),
        ("attacker.example", 403),
        ("attacker.example:8085", 403),
        ("127.0.0.1.attacker.example", 403),
        ("localhost.attacker.example", 403),
        ("user@attacker.example", 403),
        ("127.0.0.1:8085@attacker.example", 403),
        ("", 403),
        ("[", 403),
        ("[::1].attacker.example", 403),
        ("[::1]attacker.example:80", 403),
        ("[attacker.example]", 403),
        ("::1", 403),
        ("<script>", 403),
    ],
)
async def test_an_unknown_host_name_is_rejected(pages: Pages, host: str, status: int) -> None:
    answer = await pages.browser.get("/spark", headers={"host": host})
    assert answer.status_code == status
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "<script>" not in answer.text or status == 200 or answer.headers["content-type"].startswith("text/plain")


@pytest.mark.parametrize(
    ("site", "mode", "status"),
    [
        ("cross-site", "no-cors", 403),
        ("same-site", "cors", 403),
        ("cross-site", "navigate", 200),
        ("same-origin", "cors", 200),
        ("none", "navigate", 200),
    ],
)
async def test_other_sites_may_link_to_pages_but_not_load_them(pages: Pages, site: str, mode: str, status: int) -> None:
    headers = {"sec-fetch-site": site, "sec-fetch-mode": mode}
    assert (await pages.browser.get("/messages", headers=headers)).status_code == status


async def test_settings_keep_their_secrets() -> None:
    shown = repr(UiSettings({"sasl_plain_password": "hunter2"}, {"sasl_plain_password": "hunter2"}, int))
    assert "hunter2" not in shown


async def test_a_configured_host_name_is_accepted(broker: EmbeddedBroker) -> None:
    async with pages_of(settings(broker.bootstrap_servers, names=("kafka.example",))) as pages:
        assert (await pages.browser.get("/spark", headers={"host": "Kafka.Example:1"})).status_code == 200
        assert (await pages.browser.get("/spark", headers={"host": "other.example"})).status_code == 403


def test_the_host_is_parsed_from_its_header() -> None:
    assert [host_of(each) for each in ("a:1", "[::1]:2", "a", "::1", "[", "[a]:1")] == ["a", "::1", "a", "", "", ""]
    assert [host_of(each) for each in ("[::1].evil.com", "[::1].evil.com:80", "[::1]evil:80", "a:evil")] == [""] * 4


@pytest.mark.parametrize("path", ["/", "/messages", "/nothing", "/static/style.css", "/static/../app.py"])
async def test_browsers_run_no_foreign_scripts(pages: Pages, path: str) -> None:
    headers = (await pages.browser.get(path)).headers
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; ")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-frame-options"] == "DENY"
    assert headers["cross-origin-resource-policy"] == "same-origin"


async def test_pages_are_not_cached(pages: Pages) -> None:
    assert (await pages.browser.get("/")).headers["cache-control"] == "no-store"


async def test_pages_have_no_inline_scripts_or_styles(pages: Pages) -> None:
    for path in ("/", "/groups", "/spark", "/messages"):
        page = await pages.get(path)
        assert page.count("<script") == page.count('<script type="module" src="static/') >= 1
        assert '<script type="module" src="static/live.js"></script>' in page
        assert " style=" not in page
        assert "<style" not in page
        assert "http://" not in page
        assert "https://" not in page
