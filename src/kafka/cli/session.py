"""The context of a command: settings for its clients, and its output."""

import functools
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kafka.cli.command_output import output_of

if TYPE_CHECKING:
    from kafka.admin import KafkaAdminClient
    from kafka.consumer import KafkaConsumer
    from kafka.consumer.share.kafka_share_consumer import KafkaShareConsumer
    from kafka.producer import KafkaProducer

_DEFAULTS = {"client_id": "kafka-cli", "bootstrap_timeout_ms": 15_000, "api_version_auto_timeout_ms": 3_000}
"""Short timeouts, because the user is waiting."""
_FULL_BATCHES = {"linger_ms": 5, "batch_size": 128 << 10}
"""Larger batches, because input is usually faster than typing."""


class Session:
    """One execution of a command.

    Arguments:
        given: values of the common options.
        prefix: how the options for the connection begin on the command line, for errors.

    Attributes:
        options: values of the common options.
        output: prints the results.
    """

    def __init__(self, given: Mapping[str, Any], prefix: str = "--") -> None:
        self.options = given
        self._prefix = prefix
        self.output = output_of(given)

    def given(self, *options: str) -> bool:
        """Return whether any of these options was given."""
        return any(self.options[name] for name in options)

    @functools.cached_property
    def settings(self) -> dict[str, Any]:
        """The settings from all sources."""
        from kafka.cli.client_settings import settings

        return settings(self.options, prefix=self._prefix)

    @property
    def profile(self) -> str:
        """The name of the profile that was chosen by an option or ``KAFKA_PROFILE``; "" if there is none."""
        if self.options["bootstrap_servers"]:
            return ""
        return str(self.options["profile"] or os.environ.get("KAFKA_PROFILE") or "")

    def of_profile(self, name: str) -> "Session":
        """Return a session with the settings of a profile only, and the output of this one."""
        unset: dict[str, Any] = dict.fromkeys(self.options)
        kept = {each: self.options[each] for each in ("as_json", "titles", "log_level")}
        return Session({**unset, "bootstrap_servers": (), "extra_config": (), **kept, "profile": name})

    def configs(self, client: str) -> dict[str, Any]:
        """Return the keyword arguments for one kind of client."""
        from kafka.cli.client_settings import of_client

        return {**_DEFAULTS, **of_client(self.settings, client)}

    def refuse_settings(self, instead: Mapping[str, str]) -> None:
        """Raise `click.UsageError` for an ``-X`` setting that the command itself determines.

        The same settings in files and environment variables are allowed.

        Arguments:
            instead: a mapping of setting to the advice in the error, such as the option to use.
        """
        import click

        from kafka.cli.client_settings import single_settings

        for name in single_settings(self.options["extra_config"]):
            if name in instead:
                raise click.UsageError(f"-X {name} cannot be set for this command: {instead[name]}")

    def admin(self, **own: Any) -> "KafkaAdminClient":
        """Create an admin client; ``own`` takes precedence over the settings."""
        from kafka.admin import KafkaAdminClient

        return KafkaAdminClient(**{**self.configs("admin"), **own})

    def producer(self, **own: Any) -> "KafkaProducer":
        """Create a producer; ``own`` takes precedence over the settings."""
        from kafka.producer import KafkaProducer

        return KafkaProducer(**{**_FULL_BATCHES, **self.configs("producer"), **own})

    def consumer(self, *topics: str, **own: Any) -> "KafkaConsumer":
        """Create a consumer; ``own`` takes precedence over the settings."""
        from kafka.consumer import KafkaConsumer

        return KafkaConsumer(*topics, **{**self.configs("consumer"), **own})

    def share_consumer(self, **own: Any) -> "KafkaShareConsumer":
        """Create a share consumer; ``own`` takes precedence over the settings."""
        from kafka.consumer.share.kafka_share_consumer import KafkaShareConsumer

        return KafkaShareConsumer(**{**self.configs("share consumer"), **own})
