"""kafka-python 3's import path of what 2.x had in `kafka.protocol.offset_for_leader_epoch`."""

from kafka.protocol import offset_for_leader_epoch as before

__all__ = list(before.__all__)
globals().update({name: getattr(before, name) for name in __all__})
