"""What becomes of records: decisions about answers, futures and callbacks. Imports no other package of the producer."""
