"""Why a write that is to deliver exactly once cannot go on. Each text says what became of the rows."""

from kafka.errors import KafkaError


class ExactlyOnceError(KafkaError):
    """A write with the option `exactlyOnce` cannot go on."""


class PrefixInUseError(ExactlyOnceError):
    """The option `transactionalIdPrefix` names the prefix of another query, or of a checkpoint that is no more."""


class SecondWriteError(ExactlyOnceError):
    """Two writes of one micro-batch have the same `transactionalIdPrefix`."""


class ReplayDiffersError(ExactlyOnceError):
    """A micro-batch that was committed before comes again with other rows."""


class DriverFencedError(ExactlyOnceError):
    """Another driver has taken over the query; this one must not go on."""


class NotDecidedError(ExactlyOnceError):
    """A transaction was ended by others before the batch was decided: nothing of the batch is committed."""


class TransactionLostError(ExactlyOnceError):
    """A transaction was aborted after the batch was decided: its rows are lost, and those of others are committed."""
