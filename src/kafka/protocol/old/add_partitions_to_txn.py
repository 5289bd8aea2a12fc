"""kafka-python 3's import path of what 2.x had in `kafka.protocol.add_partitions_to_txn`."""

from kafka.protocol import add_partitions_to_txn as before

__all__ = list(before.__all__)
globals().update({name: getattr(before, name) for name in __all__})
