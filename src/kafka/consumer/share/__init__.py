"""The share consumer (KIP-932): several consumers share the records of a partition, each record under a lock.

On the loop the membership (`kafka.coordinator.share`) says which partitions are fetched, and a `BrokerShareFetcher` per
broker acquires records when the caller asks for some, and carries acknowledgements. In the caller's thread answers
become `Piece` objects, slices of columns with what is said of each row; `InFlight` has those that were handed out.
May import what the consumer is made of: `kafka.consumer.buffer.partition_response`, `records`, `drive`'s runners.
"""
