"""Opens pages in headless Chromium, and gives what they look like and what they complain about.

`chromium` finds the browser or installs it; `open_page` opens an address. Chromium is told what to do through two pipes
(`--remote-debugging-pipe`): it needs no port, no driver and no package for Python.
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import itertools
import json
import os
import select
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from harness.cache import cache_folder, locked
from harness.debian import PackagesMissing, install
from harness.process import Supervised

PACKAGES = ("chromium", "fonts-dejavu-core")
_NAMES = ("chromium", "chromium-browser", "google-chrome")
_SWITCHES = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-gpu",
    "--disable-sync",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
    "--no-default-browser-check",
    "--no-first-run",
)
_COMPLAINTS = ("error", "warning", "assert")
_PLACE_PIPES = (
    "import fcntl, os, sys; given = [int(each) for each in sys.argv[1:3]]; "
    "pipes = [fcntl.fcntl(each, fcntl.F_DUPFD, 10) for each in given]; [os.close(each) for each in given]; "
    "[os.dup2(pipe, number) for pipe, number in zip(pipes, (3, 4))]; [os.close(each) for each in pipes]; "
    "os.execvp(sys.argv[3], sys.argv[3:])"
)
"""Chromium expects its pipes at 3 and 4, which may be numbers of the pipes already."""


class PageFailed(Exception):
    """A page was not opened, or was not ready in time."""


@dataclasses.dataclass(frozen=True)
class Page:
    """A page as it stood when its picture was taken.

    Arguments:
        title: of the document.
        text: what can be read on it.
        html: the document as it was then.
        screenshot: a PNG file of the window.
        errors: what it complained about: errors and warnings on the console, exceptions, requests that failed.
        requests: the addresses that were asked for, that of the page first.
    """

    title: str
    text: str
    html: str
    screenshot: bytes
    errors: list[str]
    requests: list[str]


def chromium() -> Path:
    """The browser; installed, as root by apt-get, where it is not there.

    Raises `PackagesMissing`, which says what is missing and why.
    """
    with locked(cache_folder() / ".chromium.lock"):
        found = _found()
        if found is None:
            install(PACKAGES)
            found = _found()
    if found is None:
        raise PackagesMissing(
            f"apt-get has installed {' '.join(PACKAGES)}, but no command {', '.join(_NAMES)} is there"
        )
    return found


def _found() -> Path | None:
    paths = (shutil.which(name) for name in _NAMES)
    return next((Path(path) for path in paths if path), None)


def open_page(
    browser: Path,
    address: str,
    *,
    ready: str = "true",
    dark: bool = False,
    width: int = 1000,
    height: int = 800,
    scripts: bool = True,
    zone: str = "",
    timeout_s: float = 120,
) -> Page:
    """Open an address in a browser of its own, wait until it is ready, take its picture, and end the browser.

    Arguments:
        browser: what `chromium` gave.
        address: a URL, also `file:///...`.
        ready: an expression of JavaScript that becomes true once the page is what the test is about, asked after the
            page was loaded.
        dark: whether the reader prefers dark colours.
        width: of the window, in pixels.
        height: of the window, in pixels.
        scripts: whether the scripts of the page run.
        zone: the reader's time zone, such as "Asia/Kolkata"; "" for that of the machine.
        timeout_s: for all of it, the browser's start included.

    Raises `PageFailed`.
    """
    with _browser(browser, time.monotonic() + timeout_s) as tab:
        feature = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        tab.call("Emulation.setEmulatedMedia", features=[feature])
        tab.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        tab.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        if zone:
            tab.call("Emulation.setTimezoneOverride", timezoneId=zone)
        for domain in ("Page", "Runtime", "Log", "Network"):
            tab.call(f"{domain}.enable")
        failed = tab.call("Page.navigate", url=address).get("errorText")
        if failed:
            raise PageFailed(f"{address} was not opened: {failed}")
        tab.wait_for("Page.loadEventFired")
        tab.evaluate(
            f"new Promise(done => {{ const look = () => ({ready}) ? done(true) : setTimeout(look, 50); look() }})"
        )
        return Page(
            title=tab.evaluate("document.title"),
            text=tab.evaluate("document.body.innerText"),
            html=tab.evaluate("document.documentElement.outerHTML"),
            screenshot=base64.b64decode(tab.call("Page.captureScreenshot", format="png")["data"]),
            errors=list(_complaints(tab.events)),
            requests=[each["request"]["url"] for name, each in tab.events if name == "Network.requestWillBeSent"],
        )


def evaluated(
    browser: Path,
    addresses: Iterable[str],
    library: str,
    expression: str,
    *,
    dark: bool,
    width: int,
    timeout_s: float = 600,
) -> Iterator[tuple[str, Any]]:
    """Open addresses one after the other in one browser; yield each with what an expression gives there.

    Arguments:
        library: JavaScript that is run on each page first, whatever its Content-Security-Policy.

    Raises `PageFailed`.
    """
    with _browser(browser, time.monotonic() + timeout_s) as tab:
        feature = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        tab.call("Emulation.setEmulatedMedia", features=[feature])
        tab.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        for domain in ("Page", "Runtime"):
            tab.call(f"{domain}.enable")
        for address in addresses:
            tab.events.clear()
            failed = tab.call("Page.navigate", url=address).get("errorText")
            if failed:
                raise PageFailed(f"{address} was not opened: {failed}")
            tab.wait_for("Page.loadEventFired")
            tab.evaluate(f"{library}\n;true")
            yield address, tab.evaluate(expression)


def _complaints(events: list[tuple[str, dict[str, Any]]]) -> Iterator[str]:
    for name, each in events:
        if name == "Runtime.exceptionThrown":
            details = each["exceptionDetails"]
            yield f"{details['text']}: {details.get('exception', {}).get('description', '')}"
        elif name == "Runtime.consoleAPICalled" and each["type"] in _COMPLAINTS:
            yield " ".join(str(given.get("value", given.get("description"))) for given in each["args"])
        elif name == "Log.entryAdded" and each["entry"]["level"] in _COMPLAINTS:
            yield f"{each['entry']['text']} ({each['entry'].get('url', 'no address')})"


@contextlib.contextmanager
def _browser(browser: Path, deadline: float) -> Iterator[_Tab]:
    """A browser with a profile of its own, and one tab."""
    with contextlib.ExitStack() as stack:
        profile = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True)))
        orders, to_browser = os.pipe()
        answers, from_browser = os.pipe()
        for end in (to_browser, answers):
            stack.callback(os.close, end)
        command = [str(browser), *_SWITCHES, f"--user-data-dir={profile}"]
        if os.geteuid() == 0:
            command.append("--no-sandbox")
        homes = [f"{name}={profile}" for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")]
        ends = (orders, from_browser)
        python = [sys.executable, "-I", "-c", _PLACE_PIPES, *map(str, ends), "env", *homes, *command]
        try:
            process = Supervised(python, profile / "chromium.log", profile, pass_fds=ends)
        finally:
            for end in ends:
                os.close(end)
        stack.callback(process.end)
        yield _Tab(process, to_browser, answers, deadline)


class _Tab:
    """One tab of a browser, through its pipes: messages of JSON, with a zero byte after each."""

    def __init__(self, process: Supervised, orders: int, answers: int, deadline: float) -> None:
        self._process = process
        self._orders, self._answers = orders, answers
        self._deadline = deadline
        self._numbers = itertools.count(1)
        self._unread = b""
        self._session: str | None = None
        self.events: list[tuple[str, dict[str, Any]]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Have the browser do something; gives what it answers."""
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        try:
            os.write(self._orders, json.dumps(message).encode() + b"\0")
        except BrokenPipeError:
            raise self._over(f"{method} was not sent") from None
        while True:
            answer = self._receive(method)
            if answer.get("id") == number:
                if "error" in answer:
                    raise PageFailed(f"{method}: {answer['error']['message']}")
                result: dict[str, Any] = answer["result"]
                return result

    def evaluate(self, expression: str) -> Any:
        """What an expression of JavaScript gives on the page, once it has it."""
        done = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in done:
            raise PageFailed(f"{expression}: {done['exceptionDetails'].get('exception', {}).get('description')}")
        return done["result"].get("value")

    def wait_for(self, event: str) -> None:
        """Wait until the page has told of an event."""
        while event not in (name for name, _ in self.events):
            self._receive(event)

    def _receive(self, awaited: str) -> dict[str, Any]:
        """The next message; an event is kept."""
        while b"\0" not in self._unread:
            left = self._deadline - time.monotonic()
            if left <= 0 or not select.select([self._answers], [], [], left)[0]:
                raise self._over(f"{awaited} did not come in time")
            got = os.read(self._answers, 1 << 20)
            if not got:
                raise self._over(f"{awaited} did not come, as the browser has ended")
            self._unread += got
        text, _, self._unread = self._unread.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        if "method" in message:
            self.events.append((message["method"], message.get("params", {})))
        return message

    def _over(self, what: str) -> PageFailed:
        return PageFailed(f"{what}; Chromium's log ends with: {self._process.output()[-500:]}")
