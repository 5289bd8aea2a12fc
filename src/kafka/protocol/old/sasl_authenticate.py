"""kafka-python 3's import path of what 2.x had in `kafka.protocol.sasl_authenticate`."""

from kafka.protocol import sasl_authenticate as before

__all__ = list(before.__all__)
globals().update({name: getattr(before, name) for name in __all__})
