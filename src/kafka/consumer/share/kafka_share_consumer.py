"""`KafkaShareConsumer`: the synchronous share consumer."""

from typing import Self, Unpack

from kafka.config import ShareConfigs, parse_share, with_options
from kafka.config.argument_errors import refuse_settings
from kafka.consumer.runners.thread_runner import close_at_exit
from kafka.consumer.share._sync.calls import ShareCalls


@with_options("share consumer")
class KafkaShareConsumer(ShareCalls):
    """Reads records from topics together with other members of a share group (KIP-932). Java: ``KafkaShareConsumer``.

    The consumers of a share group share the records of each partition, however many consumers there are. A record is
    acquired for one of them, under a lock that expires (after 30 seconds, unless brokers are configured otherwise). An
    accepted record is not delivered again; other records are, to any of the consumers, up to five times. Requires Kafka
    4.2 or later.

    Use a consumer in one thread; other threads may only call `close` and `wakeup`. Heartbeats and requests run on a
    loop thread that all clients of the process share. Example::

        with KafkaShareConsumer("jobs", bootstrap_servers="localhost:9092", group_id="workers") as consumer:
            while True:
                for record in consumer.poll(timeout_ms=1_000):  # accepts the records of the last call
                    print(record.partition, record.offset, record.value)

    Arguments:
        topics: topics to subscribe to; without any, call `subscribe`.
        configs: options, such as ``bootstrap_servers``, ``group_id``, ``share_acknowledgement_mode``,
            ``max_poll_records``. The group config ``share.auto.offset.reset`` determines where a group starts reading.

    Raises `KafkaConfigurationError` for an option that is unknown, invalid, or meaningless for share groups,
    `NoBrokersAvailable` if no bootstrap server answers within ``bootstrap_timeout_ms``.
    """

    def __init__(self, *topics: str, **configs: Unpack[ShareConfigs]) -> None:
        refuse_settings(topics, "KafkaShareConsumer", "share consumer")
        config = parse_share(configs)
        self._servers_given = configs.get("bootstrap_servers", self.DEFAULT_CONFIG["bootstrap_servers"])
        self._make_parts(config)
        self._make_poll_loop(config)
        try:
            self._runner.run(self._core.start(in_background=config.connection.api_version is not None))
            close_at_exit(self._core, self._runner, config.share.group_id)
            if topics:
                self.subscribe(topics)
        except BaseException:
            self._abandon()
            raise

    def __enter__(self) -> Self:
        """Return the consumer, which is closed at the end of the block."""
        return self
