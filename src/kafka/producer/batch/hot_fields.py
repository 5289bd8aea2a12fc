"""The fields of batches and queues that every record touches, declared for Cython so that none is looked up by name.

The fields are declared in hot_fields.pxd, for the modules that read them in C.
"""

from __future__ import annotations


class BatchFields:
    """What each of its records asks of a batch: compiled, it need not be looked up by name.

    Attributes:
        builder: takes the records, as long as the batch is open.
        callbacks: of records; None once the batch is done or split.
        parts: the batches that it was split into, each with the index of its first record; else None.
    """


class QueueFields:
    """What each record asks of the queue of its partition; compiled, likewise.

    Attributes:
        open: the batch that takes records (a `BatchFields`), or None.
    """
