"""kafka-python 3's import path of what 2.x had in `kafka.protocol.produce`."""

from kafka.protocol import produce as before

__all__ = list(before.__all__)
globals().update({name: getattr(before, name) for name in __all__})
