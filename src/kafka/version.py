"""The version of the API that this package provides, and the version of the distribution."""

__version__ = "3.0.12"
"""The newest supported release of kafka-python, which programs compare with the version they need."""

DISTRIBUTION_VERSION = "0.1.0"
"""The version of kafka-columnar."""
