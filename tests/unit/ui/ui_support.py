"""The web UI of a broker, in this process."""

import contextlib
import dataclasses
import html
import re
from collections.abc import AsyncIterator
from typing import Any

import httpx

from kafka.cli.position_syntax import parse_position
from kafka.ui.shared_state import Ui, UiSettings, connected
from kafka.ui.web_server import make_app

ADDRESS = "http://127.0.0.1:8085"
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>&amp;"
"""Text that would run a script if it were not escaped."""


def settings(bootstrap_servers: str, **own: Any) -> UiSettings:
    """Return settings of the UI for a cluster."""
    clients = {"bootstrap_servers": bootstrap_servers}
    return dataclasses.replace(UiSettings(clients, clients, parse_position, search_s=600.0, patience_s=600.0), **own)


@dataclasses.dataclass
class Pages:
    """The UI, and a browser that requests its pages."""

    ui: Ui
    browser: httpx.AsyncClient

    async def get(self, path: str, status: int = 200, **query: Any) -> str:
        """Return the HTML of a page."""
        answer = await self.browser.get(path, params=query)
        assert answer.status_code == status, answer.text
        return answer.text

    async def post(self, path: str, status: int = 200, sent: dict[str, str] | None = None, /, **fields: str) -> str:
        """Send a form with the page's token; return the HTML of the response."""
        fields.setdefault("token", self.ui.forms.token)
        answer = await self.browser.post(path, data=fields, headers=sent)
        assert answer.status_code == status, answer.text
        return answer.text


@contextlib.asynccontextmanager
async def pages_of(given: UiSettings) -> AsyncIterator[Pages]:
    """Run a UI and its browser for the duration of the block."""
    async with connected(given) as ui:
        transport = httpx.ASGITransport(make_app(ui))
        async with httpx.AsyncClient(transport=transport, base_url=ADDRESS) as browser:
            yield Pages(ui, browser)


def text_of(page: str) -> str:
    """Return the visible text of a page."""
    return " ".join(
        html.unescape(re.sub(r"<(?!wbr>)[^>]*>", " ", page.partition("</header>")[2]).replace("<wbr>", "")).split()
    )


def rows_of(page: str, table: str) -> list[list[str]]:
    """Return the cells of a table on a page."""
    found = re.search(rf'aria-label="{table}"><table>.*?<tbody>(.*?)</tbody>', page, re.DOTALL)
    assert found is not None, page
    rows = re.findall(r"<tr>(.*?)</tr>", found[1], re.DOTALL)
    return [
        [text_of(f"</header>{cell}") for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)]
        for row in rows
    ]
