"""``kafka probe``: checks for exec probes of Kubernetes and for HEALTHCHECK in container files.

Each command exits with 0 if the probe passes and with 1 if it fails, and states the reason on one line. They connect
once, do not retry, and need no shell and no curl in the image.
"""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any, get_args

import click

from kafka.cli.common_options import connected
from kafka.cli.session import Session
from kafka.cli.suggestions import CommandGroup
from kafka.probes.verdicts import ProbeName

_FAILED = 1
_LONGEST_TEXT = 300


def _timeout_option(command: Any) -> Any:
    return click.option(
        "--timeout",
        "timeout_s",
        type=click.FloatRange(0.1, 600),
        metavar="SECONDS",
        default=5.0,
        show_default=True,
        help="Seconds after which the probe fails.",
    )(command)


@click.group(name="probe", cls=CommandGroup)
def command() -> None:
    """Check a process for an orchestrator: exit with 0 if it passes, with 1 if not."""


@command.command(name="file")
@click.argument("path", type=click.Path(path_type=pathlib.Path))
@click.argument("probe", type=click.Choice(get_args(ProbeName)))
@click.option(
    "--max-age",
    "max_age_s",
    type=click.FloatRange(0.1),
    metavar="SECONDS",
    default=30.0,
    show_default=True,
    help="Age of the file from which the probe fails.",
)
def file(path: pathlib.Path, probe: ProbeName, max_age_s: float) -> None:
    """Check the file that kafka.probes.ProbeFile writes in a consumer or producer."""
    from kafka.probes.probe_file import read_verdict

    verdict = read_verdict(path, probe, max_age_s)
    _end(bool(verdict), f"{probe}: {'; '.join(verdict.reasons) or 'passed'}")


@command.command(name="http")
@click.argument("url")
@_timeout_option
@click.option("--insecure", is_flag=True, help="Do not verify the certificate, as for an address of this machine.")
def http(url: str, timeout_s: float, insecure: bool) -> None:
    """Check that a URL answers with a status below 400, such as that of kafka.probes.ProbeServer or kafka ui."""
    import ssl
    import urllib.error
    import urllib.request

    if not url.startswith(("http://", "https://")):
        raise click.UsageError(f"expected a URL that begins with http:// or https://, got {url!r}")
    context = ssl._create_unverified_context() if insecure else None
    try:
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context)
        )
        with opener.open(url, timeout=timeout_s) as answer:
            status, text = answer.status, ""
    except urllib.error.HTTPError as error:
        status, text = error.code, error.read(1 << 16).decode("utf-8", "replace")
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        _end(False, f"{url}: {getattr(reason, 'strerror', None) or reason}")
    _end(status < 400, f"{url}: status {status}{_reasons(text)}")


@command.command(name="broker")
@_timeout_option
@connected
def broker(session: Session, timeout_s: float) -> None:
    """Check that one of the bootstrap servers accepts connections and answers the protocol's first request.

    The probe does not connect to the addresses that the broker advertises.
    """
    from kafka._loop_services import run_on_new_loop
    from kafka.config.table import parse_admin

    parsed = parse_admin(session.configs("admin"))
    told = run_on_new_loop(_answers(parsed, timeout_s))
    passed = any(failure is None for _, failure in told)
    _end(passed, "; ".join(f"{address}: {failure or 'passed'}" for address, failure in told))


async def _answers(parsed: Any, timeout_s: float) -> list[tuple[str, str | None]]:
    """Return each bootstrap address with the reason why it does not answer; None if it does."""
    import asyncio

    from kafka._addresses import format_address
    from kafka.errors import KafkaError
    from kafka.net import open_connection

    async def one(host: str, port: int) -> tuple[str, str | None]:
        try:
            async with asyncio.timeout(timeout_s):
                connection = await open_connection(host, port, parsed.connection, parsed.security)
                await connection.close()
        except TimeoutError:
            return format_address(host, port), f"no answer within {timeout_s:g} s"
        except (KafkaError, OSError) as error:
            return format_address(host, port), str(error)
        return format_address(host, port), None

    return await asyncio.gather(*(one(*each) for each in parsed.connection.bootstrap_servers))


def _reasons(text: str) -> str:
    """Return the reasons in the answer of a `ProbeServer`; "" if it has another form."""
    try:
        reasons = json.loads(text)["reasons"]
    except (KeyError, TypeError, ValueError):
        return ""
    return f": {'; '.join(map(str, reasons))}"[:_LONGEST_TEXT]


def _end(passed: bool, text: str) -> None:
    click.echo(text.replace(os.linesep, " "), err=not passed)
    raise click.exceptions.Exit(0 if passed else _FAILED)
