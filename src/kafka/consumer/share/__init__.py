"""The share consumer (KIP-932): several consumers share the records of a partition, each record under a lock.

On the loop, the membership (`kafka.coordinator.share`) determines the partitions to fetch. One `BrokerShareFetcher`
for each broker acquires records when the caller requests some, and sends acknowledgements. In the caller's thread,
responses become `Piece` objects, slices of columns with an acknowledgement for each row. `InFlight` holds the pieces
that were returned to the program.

The package may import the consumer's parts: `kafka.consumer.buffer.partition_response`, `kafka.consumer.records` and
`kafka.consumer.runners`.
"""
