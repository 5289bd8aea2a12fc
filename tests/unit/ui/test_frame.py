"""The frame of all pages: the cluster, the switch between clusters, the theme and the menu."""

import re
from collections.abc import Callable

import httpx
import pytest

from kafka.broker import EmbeddedBroker
from kafka.ui.shared_state import connected
from kafka.ui.view import is_own_page
from kafka.ui.web_server import make_app
from unit.ui.ui_support import ADDRESS, HOSTILE, Pages, pages_of, settings, text_of

pytestmark = pytest.mark.once


async def test_title_and_header_name_the_profile_and_the_cluster(broker: EmbeddedBroker) -> None:
    async with pages_of(settings(broker.bootstrap_servers, profile=HOSTILE)) as pages:
        page = await pages.get("/")
        assert pages.ui.poller.newest is not None
        cluster = pages.ui.poller.newest.cluster
    header = page.partition("</header>")[0]
    assert re.search(r"<title>Topics – &lt;script&gt;.* – Kafka</title>", page)  # noqa: RUF001
    assert cluster in header
    assert "<img" not in header
    async with pages_of(settings(broker.bootstrap_servers)) as pages:
        assert f"<title>Groups – {cluster} – Kafka</title>" in await pages.get("/groups")  # noqa: RUF001


async def test_clusters_are_switched_by_links(broker: EmbeddedBroker, topic: Callable[..., str]) -> None:
    name, peers = topic(b"v"), ["one", "two"]
    first, second = (settings(broker.bootstrap_servers, profile=each) for each in peers)
    async with connected(first, peers) as one, connected(second, peers) as two:
        transport = httpx.ASGITransport(make_app(one, two))
        async with httpx.AsyncClient(transport=transport, base_url=ADDRESS, follow_redirects=True) as browser:
            page = await browser.get("/")
            assert page.url.path == "/one/"
            assert f'href="topic?name={name}"' in page.text
            assert '<a href="../two/">two</a>' in page.text
            assert '<a href="../one/" aria-current="true">one</a>' in page.text
            page = await browser.get(f"/two/topic?name={name}")
            assert f"<title>{name} – two – Kafka</title>" in page.text  # noqa: RUF001
            assert (await browser.get("/two/static/style.css")).status_code == 200
            deep = await browser.get("/two/deep/er/page")
            assert deep.status_code == 404
            assert 'href="../../groups"' in deep.text
            assert (await browser.get("/nobody/")).status_code == 404


async def test_a_theme_is_kept_in_a_cookie(pages: Pages) -> None:
    assert "data-theme" not in await pages.get("/groups")
    fields = {"token": pages.ui.forms.token, "theme": "dark", "back": "groups?q=a+b"}
    answer = await pages.browser.post("/theme", data=fields)
    assert (answer.status_code, answer.headers["location"]) == (303, "groups?q=a+b")
    assert "httponly" in answer.headers["set-cookie"].lower()
    page = await pages.get("/groups", q="a b")
    assert 'data-theme="dark"' in page
    assert 'name="back" value="groups?q=a+b"' in page
    assert re.search(r'value="dark" aria-pressed="true">Dark', page)
    answer = await pages.browser.post("/theme", data=fields | {"theme": HOSTILE, "back": "//other.example/"})
    assert answer.headers["location"] == "./"
    assert "set-cookie" not in answer.headers
    assert (await pages.browser.post("/theme", data=fields | {"token": "x"})).headers["location"] == "./"


@pytest.mark.parametrize("address", ["./", "./?q=a", "topics", "reset-group?id=a%2Fb"])
def test_own_pages(address: str) -> None:
    assert is_own_page(address)


@pytest.mark.parametrize(
    "address", ["//x.example", "/groups", "http://x.example", "\\\\x", "javascript:a", "a\n", "../a", ".//x.example"]
)
def test_other_addresses_are_not_returned_to(address: str) -> None:
    assert not is_own_page(address)


async def test_an_unreadable_cookie_is_ignored(pages: Pages) -> None:
    answer = await pages.browser.get("/schemas", headers={"cookie": "kafka_ui_theme=\x7f; ]=; kafka_ui_theme=blue"})
    assert answer.status_code == 200
    assert "data-theme" not in answer.text
    assert "Schemas" in text_of(answer.text)
