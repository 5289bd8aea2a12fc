"""Where kafka-python kept other people's modules."""
