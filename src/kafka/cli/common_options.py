"""Options that commands share: the connection to the cluster, the output format, and others."""

import codecs
import errno
import functools
import logging
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import click

from kafka._compression import Compression

if TYPE_CHECKING:
    Choice = click.Choice[str]
    ParamType = click.ParamType[Any]
else:
    Choice = click.Choice
    ParamType = click.ParamType
"""Base classes for parameter types: click makes them generic from 8.2 on."""


P = ParamSpec("P")
R = TypeVar("R")


class AnyCase(Choice):
    """A case-insensitive choice; errors show the choices as documented."""

    def __init__(self, choices: Sequence[str]) -> None:
        super().__init__(choices, case_sensitive=False)

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """See `click.Choice`."""
        return f"{value!r} is not one of {', '.join(map(repr, self.choices))}."


_OUTPUT: list[Callable[[Callable[..., Any]], Callable[..., Any]]] = [
    click.option("--json", "as_json", is_flag=True, help="Print JSON."),
    click.option("--titles/--no-titles", default=None, help="Print column titles. [default: titles]"),
    click.option(
        "--color",
        "--colour",
        type=AnyCase(["auto", "always", "never"]),
        help="Use colours. [default: auto, on a terminal unless NO_COLOR is set]",
    ),
]
LEVELS = ("CRITICAL", "ERROR", "WARNING", "INFO", "DEBUG")

_NOTES: list[Callable[[Callable[..., Any]], Callable[..., Any]]] = [
    click.option(
        "-b",
        "--bootstrap-servers",
        "--bootstrap-server",
        "--brokers",
        multiple=True,
        metavar="HOST:PORT",
        help="Bootstrap brokers; repeatable. [default: localhost:9092]",
    ),
    click.option(
        "--profile",
        metavar="NAME",
        help="Profile; see 'kafka profiles'.",
        shell_complete=lambda *given: complete_profile(*given),
    ),
    click.option(
        "--config",
        "--command-config",
        "config_file",
        type=click.Path(exists=True, dir_okay=False),
        help="Properties file of a Java client.",
    ),
    click.option(
        "-X",
        "-C",
        "--extra-config",
        multiple=True,
        metavar="NAME=VALUE",
        help="Any client option, by its name here or in Java; repeatable.",
    ),
    click.option(
        "-S",
        "--security-protocol",
        type=AnyCase(["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]),
        help="Protocol for connections to brokers.",
    ),
    click.option(
        "-M", "--sasl-mechanism", metavar="NAME", help="SASL mechanism: PLAIN, SCRAM-SHA-512, OAUTHBEARER, GSSAPI, …"
    ),
    click.option("-U", "--sasl-user", metavar="NAME", help="User name for PLAIN and SCRAM."),
    click.option(
        "-P",
        "--sasl-password",
        metavar="TEXT",
        help="Password; visible in the process list, so KAFKA_SASL_PLAIN_PASSWORD is safer.",
    ),
    *_OUTPUT,
    click.option(
        "-l",
        "--log-level",
        type=AnyCase(LEVELS),
        help="Minimum level of log messages to show. [default: WARNING, or KAFKA_LOG_LEVEL]",
    ),
]
_NAMES = (
    "bootstrap_servers",
    "profile",
    "config_file",
    "extra_config",
    "security_protocol",
    "sasl_mechanism",
    "sasl_user",
    "sasl_password",
    "as_json",
    "titles",
    "color",
    "log_level",
)
_REMEMBERED = "kafka.cli.common_options"


def common_options(command: Callable[P, R]) -> Callable[P, R]:
    """Add the options for the connection and the output; the command gets their values unchanged."""
    for note in reversed(_NOTES):
        command = note(command)
    return command


def remember(context: click.Context, common: dict[str, Any]) -> None:
    """Store the options given before the command."""
    context.meta[_REMEMBERED] = [*context.meta.get(_REMEMBERED, ()), common]


def connected(command: Callable[..., R]) -> Callable[..., R]:
    """Add the options for the connection and the output; the command gets a `Session` as its first argument."""

    @functools.wraps(command)
    def run(*args: Any, **given: Any) -> R:
        from kafka.cli.session import Session

        own = {name: given.pop(name) for name in _NAMES}
        if own["log_level"]:
            log_from(click.get_current_context(), None, own["log_level"])
        before = click.get_current_context().meta.get(_REMEMBERED, ())
        return command(Session(_merged([*before, own])), *args, **given)

    return common_options(run)


def given_before() -> dict[str, Any]:
    """Return the options given before a command that does not accept all connection options itself."""
    return _merged([*click.get_current_context().meta.get(_REMEMBERED, ())])


def _merged(layers: list[dict[str, Any]]) -> dict[str, Any]:
    """Merge options: those after the command override those before it, and single settings (``-X``) accumulate."""
    merged: dict[str, Any] = dict.fromkeys(_NAMES)
    merged["extra_config"] = ()
    for layer in layers:
        for name, value in layer.items():
            if name == "extra_config":
                merged[name] += value
            elif value or (name == "titles" and value is not None):
                merged[name] = value
    return merged


def output_options(command: Callable[..., R]) -> Callable[..., R]:
    """Add the options for the output to a command that has no session; it gets an `Output` as ``output``."""

    @functools.wraps(command)
    def run(*args: Any, as_json: bool, titles: bool | None, color: str | None, **given: Any) -> R:
        from kafka.cli.command_output import output_of

        own = {"as_json": as_json, "titles": titles, "color": color}
        return command(*args, output=output_of(_merged([given_before(), own])), **given)

    noted: Callable[..., R] = run
    for note in reversed(_OUTPUT):
        noted = note(noted)
    return noted


def complete_topic(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Complete a topic name in the shell; see `click.Parameter.shell_complete`."""
    from kafka.cli.completion import topics

    return topics(_said_so_far(context), incomplete)


def complete_group(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Complete a group name in the shell."""
    from kafka.cli.completion import groups

    return groups(_said_so_far(context), incomplete)


def complete_profile(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of a profile in the shell."""
    from kafka.cli.completion import profiles

    return profiles(incomplete)


def _said_so_far(context: click.Context | None) -> dict[str, Any]:
    """Return the connection options typed so far. No command runs during completion, so none has stored them."""
    layers: list[dict[str, Any]] = []
    while context is not None:
        layers.insert(0, {name: context.params[name] for name in _NAMES if context.params.get(name)})
        context = context.parent
    return _merged(layers)


def log_from(context: click.Context, logger: str | None, level: str) -> None:
    """Set the level of a logger until the command ends."""
    log = logging.getLogger(logger)
    before = log.level
    log.setLevel(level)
    context.call_on_close(lambda: log.setLevel(before))


def topic_option(command: Callable[..., R]) -> Callable[..., R]:
    """Add ``-t``, as in kafka-python's command line. The command gets ``topics`` from arguments and options."""

    @functools.wraps(command)
    def run(*args: Any, topic_names: tuple[str, ...], more_topics: tuple[str, ...], **given: Any) -> R:
        return command(*args, topics=[*topic_names, *more_topics], **given)

    option = click.option(
        "-t",
        "--topic",
        "more_topics",
        multiple=True,
        metavar="TOPIC",
        help="Same as TOPIC.",
        shell_complete=complete_topic,
    )
    return click.argument("topic_names", nargs=-1, metavar="TOPIC...", shell_complete=complete_topic)(option(run))


def group_option(command: Callable[..., R]) -> Callable[..., R]:
    """Add ``-g``, as in kafka-python's command line. The command gets ``groups`` from arguments and options."""

    @functools.wraps(command)
    def run(*args: Any, group_names: tuple[str, ...], more_groups: tuple[str, ...], **given: Any) -> R:
        return command(*args, groups=[*group_names, *more_groups], **given)

    option = click.option(
        "-g",
        "--group",
        "--group-id",
        "more_groups",
        multiple=True,
        metavar="GROUP",
        help="Same as GROUP.",
        shell_complete=complete_group,
    )
    return click.argument("group_names", nargs=-1, metavar="GROUP...", shell_complete=complete_group)(option(run))


def without_effect(*names: str, **more: Any) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Add an option of kafka-python's command line that has no effect here."""
    return click.option(*names, expose_value=False, hidden=True, **more)


def timeout_option(command: Callable[..., R]) -> Callable[..., R]:
    """Add ``--timeout-ms``, kafka-python's name for ``-X request_timeout_ms``, to a command with a session."""

    @functools.wraps(command)
    def run(session: Any, *args: Any, timeout_ms: int | None, **given: Any) -> R:
        if timeout_ms is not None:
            session.settings["request_timeout_ms"] = timeout_ms
        return command(session, *args, **given)

    return click.option("--timeout-ms", type=int, hidden=True)(run)


def one(kind: str, given: list[str]) -> str:
    """Return the only topic or group given. Raises `click.UsageError` unless there is exactly one."""
    if len(given) != 1:
        raise click.UsageError(f"expected one {kind}, got {len(given) or 'none'}")
    return given[0]


def at_least_one(kind: str, given: list[str]) -> list[str]:
    """Return the topics or groups given. Raises `click.UsageError` if there are none."""
    if not given:
        raise click.UsageError(f"expected at least one {kind}")
    return given


def pairs(given: tuple[str, ...]) -> dict[str, str]:
    """Parse options of the form NAME=VALUE. Raises `click.UsageError`, whose message does not contain the value."""
    from kafka.config.secrecy import shown_setting

    found = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or not name:
            raise click.UsageError(f"expected NAME=VALUE, got {shown_setting(each)}")
        found[name] = value
    return found


def delivery(compression: str | None, acks: str | None) -> dict[str, Any]:
    """Return the producer options for ``--compression`` and ``--acks``, if given."""
    own: dict[str, Any] = {}
    if compression is not None:
        own["compression_type"] = None if compression == "none" else compression
    if acks is not None:
        own |= {"acks": acks if acks == "all" else int(acks), "enable_idempotence": acks == "all"}
    return own


def partition_of(text: str, form: str = "TOPIC:PARTITION, such as orders:0") -> tuple[str, int]:
    """Parse a partition of the form TOPIC:NUMBER. Raises `click.UsageError`."""
    topic, colon, number = text.rpartition(":")
    if not colon or not topic or not number.isdecimal():
        raise click.UsageError(f"expected {form}, got {text!r}")
    return topic, int(number)


def confirm(question: str, yes: bool) -> None:
    """Ask for confirmation, unless ``--yes`` is given or standard input is not a terminal."""
    if yes or not sys.stdin.isatty():
        return
    try:
        click.confirm(question, abort=True, err=True)
    except UnicodeDecodeError:  # undecodable input counts as a refusal
        raise click.Abort from None


def ask_password(question: str) -> str:
    """Prompt for a password twice, on a terminal. Raises `click.UsageError`; errors do not contain the password."""
    try:
        password = str(click.prompt(question, hide_input=True, confirmation_prompt=True, err=True))
        password.encode()
    except UnicodeError:
        raise click.UsageError("the password is not valid text") from None
    return password


def given_password(question: str) -> str:
    """Prompt for a password on a terminal, or read the first line of standard input as UTF-8.

    Raises `click.UsageError`, whose message does not contain the line.
    """
    if sys.stdin.isatty():
        password = ask_password(question)
    else:
        encoding = codecs.lookup(sys.stdin.encoding).name.replace("ascii", "utf-8")
        try:
            password = sys.stdin.buffer.readline().decode(encoding).rstrip("\r\n")
        except UnicodeDecodeError:
            raise click.UsageError(f"the password is not valid text in {encoding}") from None
    if not password:
        raise click.UsageError("expected a password as the first line of standard input, got nothing")
    return password


class WholeNumber(click.IntRange):
    """An `IntRange` whose errors say in words which whole numbers are allowed."""

    name = "whole number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number. Raises `click.BadParameter` with the allowed numbers, and what was found."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            low, high = self.min, self.max
            allowed = f"of {low} or more" if high is None else f"from {low} to {high}"
            raise click.BadParameter(f"expected a whole number {allowed}, got {str(value)!r:.40}", ctx, param) from None


def count_option(
    *names: str, minimum: int = 1, metavar: str = "COUNT", default: int | None = None, **more: Any
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return an option for an integer of at least ``minimum``. If there is a default, the help shows it."""
    shown = default is not None
    return click.option(*names, type=WholeNumber(minimum), metavar=metavar, default=default, show_default=shown, **more)


def port_option(default: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Add ``--port``, the port on which the command listens."""
    return click.option(
        "--port",
        type=WholeNumber(0, 65535),
        metavar="PORT",
        default=default,
        show_default=True,
        help="Port; 0 picks a free one.",
    )


def port_problem(error: OSError, port: int) -> str | None:
    """Explain why a command cannot listen on a port, and name the option to change; None for other errors."""
    if error.errno == errno.EADDRINUSE:
        return f"port {port} is in use; choose another with --port (0 picks a free one)"
    if error.errno == errno.EACCES and error.filename is None:
        why = os.strerror(errno.EACCES)
        return f"port {port}: {why}; choose another with --port: ports from 1024 need no special privileges"
    return None


def host_option(remark: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Add ``--host``, the address on which the command listens. The help of the option ends with ``remark``."""
    return click.option(
        "--host",
        metavar="ADDRESS",
        default="127.0.0.1",
        show_default=True,
        help=f"Address to listen on. {remark}",
    )


compression_option = click.option(
    "-z", "--compression", type=click.Choice([each.option for each in Compression]), help="Compression codec."
)
acks_option = click.option(
    "--acks", type=click.Choice(["0", "1", "all"]), help="Required acknowledgements. [default: all]"
)
yes_option = click.option("-y", "--yes", is_flag=True, help="Skip confirmation (implied without a terminal).")
dry_run_option = click.option(
    "--dry-run", "--validate-only", is_flag=True, help="Show what would be done without doing it."
)
