"""Runs the page until it is interrupted."""

import ipaddress
import logging
import socket
from collections.abc import Callable

import uvicorn

from kafka._addresses import bare_host, format_address
from kafka._loop_services import run_on_new_loop
from kafka.ui.app import make_app
from kafka.ui.settings import UiSettings
from kafka.ui.state import Ui, connected

_PATIENCE_S = 15


def is_loopback(host: str) -> bool:
    """Whether an address is reached from this machine alone."""
    try:
        return ipaddress.ip_address(bare_host(host)).is_loopback
    except ValueError:
        return host == "localhost"


def run(settings: UiSettings, host: str, port: int, ready: Callable[[str], None]) -> None:
    """Serve until Ctrl-C or SIGTERM, which are raised again when all is closed.

    Arguments:
        ready: called with the page's address as soon as it can be asked for.

    Raises `OSError` where the address cannot be listened on, and what `AsyncKafkaAdminClient.start` raises.
    """
    run_on_new_loop(_run(settings, host, port, ready))


async def _run(settings: UiSettings, host: str, port: int, ready: Callable[[str], None]) -> None:
    host = bare_host(host)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as listening:
        async with connected(settings) as ui:
            address = listening.getsockname()
            shown = format_address(address[0], address[1])
            config = uvicorn.Config(
                make_app(ui),
                log_level="warning",
                access_log=False,
                server_header=False,
                lifespan="off",
                ws="none",
                timeout_graceful_shutdown=_PATIENCE_S,
            )
            logging.getLogger("uvicorn.error").addFilter(_is_ours)
            await _Server(config, ui, lambda: ready(f"http://{shown}/")).serve(sockets=[listening])


def _is_ours(record: logging.LogRecord) -> bool:
    """Whether a log record is about this page, and not about what somebody sent who does not speak HTTP."""
    return not str(record.msg).startswith("Invalid HTTP request")


class _Server(uvicorn.Server):
    """A server that ends its streams before it waits for its connections."""

    def __init__(self, config: uvicorn.Config, ui: Ui, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ui = ui
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """See `uvicorn.Server`."""
        await super().startup(sockets)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """See `uvicorn.Server`."""
        self._ui.searches.close()
        await self._ui.observer.close()
        await super().shutdown(sockets)
