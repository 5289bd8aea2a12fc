"""The options of exactly-once writes."""

import pytest

from kafka.errors import KafkaConfigurationError
from kafka.spark.options.parsing import ExactlyOnceOptions, parse_write

SERVERS = {"kafka.bootstrap.servers": "localhost:9092"}
TRUE = {"exactlyonce": "true"}
PREFIX = {"transactionalidprefix": "p"}
BATCH = {"transactionalbatchid": "2026-11-25"}


def test_writes_are_at_least_once_by_default():
    assert parse_write(SERVERS).exactly_once is None
    assert parse_write({**SERVERS, "exactlyonce": "false"}).exactly_once is None


def test_a_write_in_transactions_requires_a_prefix():
    assert parse_write({**SERVERS, **TRUE, **PREFIX}).exactly_once == ExactlyOnceOptions("p", None, None)


def test_the_transaction_timeout_is_not_an_option_of_cached_producers():
    options = parse_write({**SERVERS, **TRUE, **PREFIX, **BATCH, "kafka.transaction.timeout.ms": "5000"})
    assert options.exactly_once == ExactlyOnceOptions("p", "2026-11-25", 5000)
    assert "transaction_timeout_ms" not in dict(options.configs)


@pytest.mark.parametrize(
    ("given", "streaming", "said"),
    [
        (TRUE, False, "requires 'transactionalIdPrefix'"),
        (PREFIX, False, "option 'transactionalIdPrefix' requires 'exactlyOnce' set to true"),
        (BATCH, False, "option 'transactionalBatchId' requires 'exactlyOnce' set to true"),
        ({**TRUE, **PREFIX, **BATCH}, True, "option 'transactionalBatchId' is for batch writes"),
        ({**TRUE, **PREFIX, "kafka.acks": "1"}, False, "option 'exactlyOnce' conflicts with another one: .*acks"),
        (
            {**TRUE, **PREFIX, "kafka.enable.idempotence": "false"},
            False,
            "exactlyOnce' conflicts with another one: .*idempot",
        ),
        (
            {**TRUE, **PREFIX, "kafka.transactional.id": "x"},
            False,
            "'kafka.transactional.id' is refused: .*exactlyOnce",
        ),
    ],
)
def test_contradictory_options_are_rejected(given, streaming, said):
    with pytest.raises(KafkaConfigurationError, match=said):
        parse_write({**SERVERS, **given}, streaming=streaming)
