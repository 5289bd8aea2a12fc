"""kafka-python 3's import path of what 2.x had in `kafka.protocol`."""
