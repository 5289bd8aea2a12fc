"""kafka-python 3's import path of what 2.x had in `kafka.protocol.abstract`."""

from kafka.protocol import abstract as before

__all__ = list(before.__all__)
globals().update({name: getattr(before, name) for name in __all__})
