"""The two versions: of the API that this package serves, and of the distribution."""

__version__ = "3.0.12"
"""The newest release of kafka-python whose programs run here, which programs compare with what they need."""

DISTRIBUTION_VERSION = "0.1.0"
"""The version of kafka-columnar."""
