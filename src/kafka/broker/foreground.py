"""The broker in the foreground of a process, as the command line runs it."""

import asyncio
import os
import signal
from pathlib import Path

from kafka.broker.server import BrokerServer
from kafka.broker.settings import BrokerSettings


def run(
    data_dir: str | os.PathLike[str] | None = None, host: str = "127.0.0.1", port: int = 9092, **settings: object
) -> None:
    """Run a broker until SIGINT or SIGTERM; the line it prints when it is ready ends with ``host:port``.

    Arguments:
        data_dir: where records are kept; None: in a folder that is deleted in the end.
        host: the address to listen on.
        port: 0: a free one.
        settings: see `BrokerSettings`.

    The arguments are those of `EmbeddedBroker`. Raises OSError where the port is taken.
    """
    folder = None if data_dir is None else Path(data_dir)
    asyncio.run(_serve(BrokerServer(folder, host, port, BrokerSettings.from_names(settings))))


async def _serve(server: BrokerServer) -> None:
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    for one in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(one, ended.set)
    endpoint = await server.start()
    try:
        print(f"kafka broker ready on {endpoint.host}:{endpoint.port}", flush=True)
        await ended.wait()
    finally:
        await server.stop()
