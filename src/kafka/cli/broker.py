"""``kafka broker``: the embedded broker in the foreground."""

import pathlib

import click

from kafka import broker


@click.command(name="broker")
@click.option(
    "--data-dir",
    type=click.Path(file_okay=False, path_type=pathlib.Path),
    help="Folder for the logs; without it a temporary one, removed at the end.",
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=9092, show_default=True, help="Port; 0 takes a free one."
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
def command(data_dir: pathlib.Path | None, port: int, host: str) -> None:
    """Run the embedded broker until it is interrupted.

    It is for development and tests: one node, no replication. Records that were acknowledged survive a crash of the
    process. In production run Apache Kafka.
    """
    broker.run(data_dir=data_dir, host=host, port=port)
