"""The broker in the foreground of a process, as the command line runs it."""

import asyncio
import os
import signal
import sys
from pathlib import Path

from kafka._addresses import format_address
from kafka._loop_services import run_on_new_loop
from kafka.broker.server import BrokerServer
from kafka.broker.settings import BrokerSettings


def run(
    data_dir: str | os.PathLike[str] | None = None, host: str = "127.0.0.1", port: int = 9092, **settings: object
) -> None:
    """Run a broker until SIGINT or SIGTERM; the line it prints when it is ready ends with ``host:port``.

    On standard error it then says where records are, and whether clients have to log in.

    Arguments:
        data_dir: where records are kept; None: in a folder that is deleted in the end.
        host: the address to listen on.
        port: 0: a free one.
        settings: see `BrokerSettings`.

    The arguments are those of `EmbeddedBroker`. Raises OSError where the port is taken.
    """
    folder = None if data_dir is None else Path(data_dir)
    parsed = BrokerSettings.from_names(settings)
    where = "a temporary folder, removed at the end (--data-dir keeps them)" if folder is None else folder
    notes = [f"records are in {where}"]
    if parsed.users:
        notes.append("clients must log in: security_protocol SASL_PLAINTEXT")
    run_on_new_loop(_serve(BrokerServer(folder, host, port, parsed), notes))


async def _serve(server: BrokerServer, notes: list[str]) -> None:
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    for one in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(one, ended.set)
    endpoint = await server.start()
    try:
        print(f"kafka broker ready on {format_address(endpoint.host, endpoint.port)}", flush=True)
        if server.registry_url is not None:
            notes.append(f"the schema registry is at {server.registry_url}")
        print(*notes, sep="\n", file=sys.stderr, flush=True)
        await ended.wait()
    finally:
        await server.stop()
