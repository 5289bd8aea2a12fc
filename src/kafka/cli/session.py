"""What a command works with: settings for its clients, and where its output goes."""

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kafka.cli.command_output import Output

if TYPE_CHECKING:
    from kafka.admin import KafkaAdminClient
    from kafka.consumer import KafkaConsumer
    from kafka.consumer.share.kafka_share_consumer import KafkaShareConsumer
    from kafka.producer import KafkaProducer

_DEFAULTS = {"client_id": "kafka-cli", "bootstrap_timeout_ms": 15_000, "api_version_auto_timeout_ms": 3_000}
"""Someone waits for the answer."""
_FULL_BATCHES = {"linger_ms": 5, "batch_size": 128 << 10}
"""Input comes faster than a person would notice."""


class Session:
    """One run of a command."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given = given
        self.output = Output(bool(given["as_json"]), bool(given["titles"]))

    def given(self, *options: str) -> bool:
        """Whether one of these options was given."""
        return any(self._given[name] for name in options)

    @functools.cached_property
    def settings(self) -> dict[str, Any]:
        """The settings from all places."""
        from kafka.cli.client_settings import settings

        return settings(self._given)

    def configs(self, client: str) -> dict[str, Any]:
        """The keyword arguments of one kind of client."""
        from kafka.cli.client_settings import of_client

        return {**_DEFAULTS, **of_client(self.settings, client)}

    def refuse_settings(self, instead: Mapping[str, str]) -> None:
        """Raise `click.UsageError` for a single setting that a command makes itself; files and variables may have it.

        Arguments:
            instead: what says it to this command, by the name of the option.
        """
        import click

        from kafka.cli.client_settings import single_settings

        for name in single_settings(self._given["extra_config"]):
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
