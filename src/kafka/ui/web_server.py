"""The routes of the UI, and the server that runs it until it is interrupted."""

import asyncio
import ipaddress
import logging
import pathlib
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from typing import Any
from urllib.parse import quote

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp

from kafka._addresses import bare_host, format_address
from kafka._loop_services import run_on_new_loop
from kafka.consumer.bounds import WHERE_TOPICS_ARE
from kafka.display.page_elements import Html, html, visible
from kafka.display.time_charts import CHART_STYLE
from kafka.errors import KafkaError, UnknownTopicOrPartitionError, error_text
from kafka.pipelines.report.graph import GRAPH_STYLE
from kafka.ui.access.audit_log import REFUSED
from kafka.ui.access.gate import Gate
from kafka.ui.access.login_page import LoginPages
from kafka.ui.access.user import current_user
from kafka.ui.actions import create_topic, reset_group
from kafka.ui.changes import Answer as FormAnswer
from kafka.ui.changes import confirmed_change
from kafka.ui.cluster_pages import broker_page, broker_part, brokers_page, brokers_part, health_page, health_part
from kafka.ui.downloads import download
from kafka.ui.groups_page import group_page, group_part, groups_page, groups_part
from kafka.ui.guard import LARGEST_FORM, Guard
from kafka.ui.message_fields import suggested_topics
from kafka.ui.message_page import message_bytes, message_page
from kafka.ui.messages_page import messages_page
from kafka.ui.missing import (
    Missing,
    missing_page,
    no_broker,
    no_group,
    no_message,
    no_page,
    no_partition,
    no_pipeline,
    no_topic,
)
from kafka.ui.page_frame import age_note, badge, page, trouble
from kafka.ui.pipelines_page import pipeline_page, pipeline_part, pipelines_page, pipelines_part
from kafka.ui.produce_page import LARGEST, produce, produce_page
from kafka.ui.schemas_page import no_schema, schema_page, schemas_page
from kafka.ui.security_pages import acls_page, quotas_page, users_page
from kafka.ui.shared_state import Entrance, Ui, UiSettings, connected
from kafka.ui.spark_page import spark_page, spark_part
from kafka.ui.streams import StreamedResponse
from kafka.ui.tail_page import tail_events, tail_page
from kafka.ui.topic_changes import add_partitions, change_config, delete_group, delete_records, delete_topic
from kafka.ui.topics_page import topic_page, topic_part, topics_page, topics_part
from kafka.ui.transactions_page import transactions_page
from kafka.ui.view import THEME_COOKIE, THEMES, Viewed, is_own_page, number_seen

_STATIC = pathlib.Path(__file__).parent / "static"
_THEME_KEPT_S = 365 * 24 * 3600
_KINDS = {
    "style.css": "text/css",
    "live.js": "text/javascript",
    "messages.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}
Answer = Callable[[Request], Awaitable[Response]]


async def _live_spark(ui: Ui, _: Mapping[str, str]) -> Html:
    return await spark_part(ui)


async def _live_pipelines(ui: Ui, _: Mapping[str, str]) -> Html:
    return await pipelines_part(ui)


async def _live_pipeline(ui: Ui, given: Mapping[str, str]) -> Html:
    return await pipeline_part(ui, given.get("name", ""))


async def _live_health(ui: Ui, _: Mapping[str, str]) -> Html:
    return health_part(ui)


async def _live_brokers(ui: Ui, _: Mapping[str, str]) -> Html:
    return brokers_part(ui)


async def _live_broker(ui: Ui, given: Mapping[str, str]) -> Html:
    return broker_part(ui, given.get("id", ""))


_PARTS: Mapping[str, Callable[[Ui, Mapping[str, str]], Awaitable[Html]]] = {
    "topics": lambda ui, _: topics_part(ui),
    "topic": lambda ui, given: topic_part(ui, given.get("name", "")),
    "groups": lambda ui, _: groups_part(ui),
    "group": lambda ui, given: group_part(ui, given.get("id", "")),
    "health": _live_health,
    "brokers": _live_brokers,
    "broker": _live_broker,
    "spark": _live_spark,
    "pipelines": _live_pipelines,
    "pipeline": _live_pipeline,
}
_NOT_OF_CLUSTER = ("spark", "pipelines", "pipeline")
"""The parts that do not show the snapshot of the cluster."""

_CHANGES = (
    ("/change-config", "/", "change config", change_config),
    ("/add-partitions", "/", "add partitions", add_partitions),
    ("/delete-records", "/", "delete records", delete_records),
    ("/delete-topic", "/", "delete topic", delete_topic),
    ("/delete-group", "/groups", "delete group", delete_group),
)
"""The changes in two steps: path, menu entry, name in the audit log, and what prepares the change."""


def make_app(*uis: Ui) -> ASGIApp:
    """Return the UIs of one or more clusters as an ASGI application.

    A single cluster is at the root. Each of several is below the name of its profile, and the root leads to the first.
    Without `allow_writes`, a UI has no routes that change its cluster.
    """
    names = {name for ui in uis for name in ui.settings.names}
    entrance = uis[0].entrance
    routes: list[BaseRoute] = []
    if entrance.access is not None:
        routes += LoginPages(entrance.access, entrance.forms, entrance.audit).routes()
    if len(uis) == 1:
        routes.append(Mount("", _cluster_app(uis[0])))
    else:
        routes += [Mount(f"/{ui.settings.profile}", _cluster_app(ui)) for ui in uis]
        routes.append(Route("/", _redirect(f"{quote(uis[0].settings.profile, safe='')}/")))
        routes.append(Route("/static/{name}", _static))
    return Guard(Gate(Starlette(routes=routes), entrance.access, entrance.audit), names)


def _cluster_app(ui: Ui) -> ASGIApp:
    """Return the UI of a cluster, below any path."""
    routes = [
        Route("/", _page(ui, lambda given: topics_page(ui))),
        Route("/topic", _page(ui, lambda given: topic_page(ui, given.get("name", "")), no_topic)),
        Route("/groups", _page(ui, lambda given: groups_page(ui))),
        Route("/group", _page(ui, lambda given: group_page(ui, given.get("id", "")), no_group)),
        Route("/health", _page(ui, lambda given: health_page(ui))),
        Route("/brokers", _page(ui, lambda given: brokers_page(ui))),
        Route("/broker", _page(ui, lambda given: broker_page(ui, given), no_broker)),
        Route("/acls", _page(ui, lambda given: acls_page(ui))),
        Route("/users", _page(ui, lambda given: users_page(ui))),
        Route("/quotas", _page(ui, lambda given: quotas_page(ui))),
        Route("/transactions", _page(ui, lambda given: transactions_page(ui))),
        Route("/schemas", _page(ui, lambda given: schemas_page(ui))),
        Route("/schema", _page(ui, lambda given: schema_page(ui, given), no_schema)),
        Route("/spark", _page(ui, lambda given: spark_page(ui))),
        Route("/pipelines", _page(ui, lambda given: pipelines_page(ui))),
        Route("/pipeline", _page(ui, lambda given: pipeline_page(ui, given), no_pipeline)),
        Route("/message", _page(ui, lambda given: message_page(ui, given), no_message, no_partition)),
        Route("/messages", _streamed(ui, messages_page)),
        Route("/message-bytes", _page(ui, lambda given: message_bytes(ui, given), no_message, no_partition)),
        Route("/download", _page(ui, lambda given: download(ui, given))),
        Route("/topic-names", _topic_names(ui)),
        Route("/tail", _streamed(ui, tail_page)),
        Route("/tail-events", _tail_events(ui)),
        Route("/live/{part}", _events(ui)),
        Route("/theme", _theme(ui), methods=["POST"]),
        Route("/static/{name}", _static),
    ]
    if ui.settings.allow_writes:
        routes += [
            Route("/topics", _action(ui, create_topic), methods=["POST"]),
            Route("/produce", _page(ui, lambda given: _for_operators(ui, given))),
            Route("/produce", _action(ui, produce, LARGEST), methods=["POST"]),
            Route("/reset-group", _action(ui, reset_group, LARGEST), methods=["POST"]),  # offsets of all partitions
            *(
                Route(path, _action(ui, confirmed_change(path, current, action, prepare), LARGEST), methods=["POST"])
                for path, current, action, prepare in _CHANGES
            ),
        ]
    wrong_address = _wrong_address(ui)
    found_not = {404: wrong_address, 405: wrong_address}
    return Viewed(Starlette(routes=routes, exception_handlers=found_not))


def _wrong_address(ui: Ui) -> Callable[[Request, Exception], Awaitable[Response]]:
    async def answer(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 404
        return _answer(missing_page(ui, no_page(request.url.path, is_method=status == 405)), status)

    return answer


def _answer(content: str, status: int = 200) -> HTMLResponse:
    return HTMLResponse(content.encode("utf-8", "backslashreplace"), status)


def _page(
    ui: Ui,
    made: Callable[[Mapping[str, str]], Awaitable[Html | Response | None]],
    missing: Callable[[Ui, Mapping[str, str]], Awaitable[Missing]] | None = None,
    unknown: Callable[[Ui, Mapping[str, str]], Awaitable[Missing]] | None = None,
) -> Answer:
    """Return the endpoint for a page.

    If ``made`` returns None, ``missing`` returns what does not exist; if it raises `UnknownTopicOrPartitionError`,
    ``unknown`` does.
    """

    async def answer(request: Request) -> Response:
        try:
            found = await made(request.query_params)
        except (KafkaError, ValueError, TypeError) as error:
            if unknown is not None and isinstance(error, UnknownTopicOrPartitionError):
                return _answer(missing_page(ui, await unknown(ui, request.query_params)), 404)
            text = error_text(error).replace(WHERE_TOPICS_ARE, "see the Topics page")
            return _answer(page(ui, "Error", "", trouble(text)), 400)
        except TimeoutError:
            return _answer(page(ui, "Error", "", trouble("the request timed out")), 504)
        if found is None:
            what = await missing(ui, request.query_params) if missing is not None else Missing("this does not exist")
            return _answer(missing_page(ui, what), 404)
        return found if isinstance(found, Response) else _answer(found)

    return answer


def _streamed(ui: Ui, made: Callable[[Ui, Mapping[str, str]], AsyncGenerator[Html]]) -> Answer:
    """Return the endpoint for a page that is sent while it is made."""

    async def answer(request: Request) -> Response:
        async def body() -> AsyncIterator[bytes]:
            async with aclosing(made(ui, request.query_params)) as parts:
                async for part in parts:
                    yield part.encode("utf-8", "backslashreplace")

        return StreamedResponse(body(), media_type="text/html")

    return answer


def _topic_names(ui: Ui) -> Answer:
    """Return the endpoint that suggests topics while their name is typed."""

    async def answer(request: Request) -> Response:
        await ui.poller.snapshot()
        return JSONResponse(suggested_topics(ui, request.query_params.get("q", "")))

    return answer


def _tail_events(ui: Ui) -> Answer:
    """Return the endpoint that streams new messages as server-sent events."""

    async def answer(request: Request) -> Response:
        async def body() -> AsyncIterator[bytes]:
            last = request.headers.get("last-event-id", "")
            async with aclosing(tail_events(ui, request.query_params, last)) as events:
                async for each in events:
                    yield each

        return StreamedResponse(body(), media_type="text/event-stream")

    return answer


def _events(ui: Ui) -> Answer:
    """Return the endpoint that streams a page's live part as server-sent events."""

    async def answer(request: Request) -> Response:
        name = request.path_params["part"]
        if name not in _PARTS:
            return _answer("", 404)

        async def body() -> AsyncIterator[bytes]:
            async with aclosing(ui.poller.follow(number_seen(request.query_params))) as moments:
                async for is_news in moments:
                    yield event(await news(ui, name, request.query_params)) if is_news else b": still here\n\n"

        return StreamedResponse(body(), media_type="text/event-stream")

    return answer


async def news(ui: Ui, name: str, given: Mapping[str, str]) -> Html:
    """Return the content of a live part, and the health for the header."""
    part = await _PARTS[name](ui, given)
    age = Html("") if name in _NOT_OF_CLUSTER else age_note(ui)
    return html("<template data-health>{}</template>{}{}", badge(ui), age, part)


def event(content: str) -> bytes:
    """Encode a server-sent event."""
    lines = visible(content).splitlines()
    return "".join([*(f"data: {line}\n" for line in lines), "\n"]).encode("utf-8", "backslashreplace")


async def _for_operators(ui: Ui, given: Mapping[str, str]) -> Html | Response:
    if not ui.may_write:
        return _answer(page(ui, "Refused", "", trouble(_refusal(ui, given))), 403)
    return await produce_page(ui, given)


def _action(ui: Ui, done: FormAnswer, largest: int = LARGEST_FORM) -> Answer:
    async def answer(request: Request) -> Response:
        try:
            given = await ui.forms.fields(request, largest)
        except ValueError as error:
            return _answer(page(ui, "Error", "", trouble(str(error))), 413)
        except ClientDisconnect:
            return Response(status_code=400)  # the client has disconnected
        refusal = _refusal(ui, given)
        if given is None or refusal:
            ui.record(request.url.path, {}, REFUSED, refusal)
            return _answer(page(ui, "Refused", "", trouble(refusal)), 403)
        return _answer(await done(ui, {**request.query_params, **given}))

    return answer


def _refusal(ui: Ui, given: Mapping[str, str] | None) -> str:
    """Return why a form is refused; "" if it is accepted."""
    if not ui.may_write:
        return f"the role {current_user().role.value} may only read; this needs the role operator"
    if given is None:
        return "this form comes from another page, or from before kafka ui was restarted: go back and reload the page"
    return ""


def _redirect(target: str) -> Answer:
    async def answer(_: Request) -> Response:
        return RedirectResponse(target)

    return answer


def _theme(ui: Ui) -> Answer:
    """Return the endpoint that keeps the chosen theme in a cookie, and returns to the page."""

    async def answer(request: Request) -> Response:
        try:
            given = await ui.forms.fields(request) or {}
        except (ValueError, ClientDisconnect):
            return Response(status_code=400)
        chosen, back = given.get("theme", ""), given.get("back", "")
        response = RedirectResponse(back if is_own_page(back) else "./", status_code=303)
        if chosen in THEMES:
            response.set_cookie(THEME_COOKIE, chosen, max_age=_THEME_KEPT_S, samesite="strict", httponly=True)
        return response

    return answer


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _KINDS:
        return Response(status_code=404)
    headers: dict[str, Any] = {"Cache-Control": "max-age=60"}
    more = f"{CHART_STYLE}{GRAPH_STYLE}".encode() if name == "style.css" else b""
    return Response((_STATIC / name).read_bytes() + more, media_type=_KINDS[name], headers=headers)


_PATIENCE_S = 15


def is_loopback(host: str) -> bool:
    """Return whether an address is reachable only from this machine."""
    try:
        return ipaddress.ip_address(bare_host(host)).is_loopback
    except ValueError:
        return host == "localhost"


def run(
    settings: Sequence[UiSettings],
    host: str,
    port: int,
    ready: Callable[[str], None],
    unreachable: Callable[[UiSettings, KafkaError], None],
) -> None:
    """Serve until Ctrl-C or SIGTERM; the signal is raised again after everything is closed.

    Arguments:
        settings: the settings of each cluster; if there are several, each with its own `UiSettings.profile`.
        ready: called with the UI's URL as soon as the server accepts requests.
        unreachable: called before that for each cluster that does not answer; see `connected`.

    Raises `OSError` if the address is not available, and the errors of `connected`.
    """
    run_on_new_loop(_run(settings, host, port, ready, unreachable))


async def _run(
    settings: Sequence[UiSettings],
    host: str,
    port: int,
    ready: Callable[[str], None],
    unreachable: Callable[[UiSettings, KafkaError], None],
) -> None:
    host = bare_host(host)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as listening:
        async with AsyncExitStack() as stack:
            peers = [each.profile for each in settings]
            entrance = Entrance(settings[0].access)
            clusters = [connected(each, peers, entrance, unreachable) for each in settings]
            # Clusters that do not answer are waited for together.
            entered = await asyncio.gather(*map(stack.enter_async_context, clusters), return_exceptions=True)
            for each in entered:
                if isinstance(each, BaseException):
                    raise each
            uis = [each for each in entered if isinstance(each, Ui)]
            address = listening.getsockname()
            shown = format_address(address[0], address[1])
            access = settings[0].access
            config = uvicorn.Config(
                make_app(*uis),
                ssl_certfile=access.tls_cert,
                ssl_keyfile=access.tls_key,
                proxy_headers=bool(access.proxy),
                forwarded_allow_ips=access.proxy,
                log_level="warning",
                access_log=False,
                server_header=False,
                lifespan="off",
                ws="none",
                timeout_graceful_shutdown=_PATIENCE_S,
            )
            logging.getLogger("uvicorn.error").addFilter(_is_ours)
            scheme = "http" if access.tls_cert is None else "https"
            await _Server(config, uis, lambda: ready(f"{scheme}://{shown}/")).serve(sockets=[listening])


def _is_ours(record: logging.LogRecord) -> bool:
    """Return whether a log record concerns this UI, rather than invalid data from a client that does not speak HTTP."""
    return not str(record.msg).startswith("Invalid HTTP request")


class _Server(uvicorn.Server):
    """A server that ends its event streams before it waits for connections to close."""

    def __init__(self, config: uvicorn.Config, uis: Sequence[Ui], ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._uis = uis
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """See `uvicorn.Server`."""
        await super().startup(sockets)
        for ui in self._uis:
            ui.poller.begin()  # so that the first page finds a snapshot
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """See `uvicorn.Server`."""
        for ui in self._uis:
            ui.searches.close()
            ui.tails.close()
            await ui.poller.close()
        await super().shutdown(sockets)
