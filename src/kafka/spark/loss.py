"""What happens when data that should be there are not: `failOnDataLoss`. Pure."""

import logging

from kafka.errors import KafkaError

log = logging.getLogger(__name__)


class DataLossError(KafkaError):
    """Records that the query should have read are no longer in Kafka."""


def report_loss(fail: bool, what: str) -> None:
    """Raise `DataLossError` if ``fail``, else log a warning and go on.

    Arguments:
        fail: the option `failOnDataLoss`.
        what: what is missing, as a sentence without its end.
    """
    if fail:
        raise DataLossError(
            f"{what}. Some records may have been deleted before they were read (retention, or a topic deleted and "
            "made again). Set the option failOnDataLoss=false to go on with a warning, or start with a new "
            "checkpoint and startingOffsets"
        )
    log.warning("%s; going on, as failOnDataLoss=false", what)
