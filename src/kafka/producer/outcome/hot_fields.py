"""The fields of batches and queues that every record touches, declared for Cython so that none is looked up by name.

The fields are declared in hot_fields.pxd, for the modules that read them in C.
"""

from __future__ import annotations


class BatchFields:
    """What each of its records asks of a batch: compiled, it need not be looked up by name.

    Attributes:
        builder: takes the records, as long as the batch is open.
        callbacks: of records; None once the batch is done or split.
        named: which records go to this partition because the caller named it, as runs: the first index of each and the
            one behind its last; None where the partitioner chose for all.
        parts: where the records are now if they were moved to other batches; else None. Each run of records has the
            index of its first one, the batch, and the index that this one has there.
    """


class QueueFields:
    """What each record asks of the queue of its partition; compiled, likewise.

    Attributes:
        open: the batch that takes records (a `BatchFields`), or None.
    """
