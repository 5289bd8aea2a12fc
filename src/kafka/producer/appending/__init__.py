"""The path of a record from `send()` into a batch, in the caller's thread: check, serialize, partition, append."""
