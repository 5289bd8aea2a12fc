"""What a program says about a record that it was given."""

import enum


class AcknowledgeType(enum.IntEnum):
    """Java: ``AcknowledgeType``."""

    ACCEPT = 1
    """It was processed: it is not delivered again."""
    RELEASE = 2
    """It was not processed: it is delivered again, to any consumer of the group, up to the limit of deliveries."""
    REJECT = 3
    """It cannot be processed: it is not delivered again."""
    RENEW = 4
    """It is still being processed: its lock lasts anew, and the next poll() gives it again (KIP-1222)."""
