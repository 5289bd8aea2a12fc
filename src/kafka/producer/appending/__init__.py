"""From `send()` into a batch, in the caller's thread: check, serialize, choose the partition, append."""
