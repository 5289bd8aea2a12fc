"""What `AIOKafkaAdminClient.delete_records` makes of a partition."""

from typing import NamedTuple


class RecordsToDelete(NamedTuple):
    """The records of a partition that are to go.

    Arguments:
        before_offset: the first one that stays; -1: none does.
    """

    before_offset: int
