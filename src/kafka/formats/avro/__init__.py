"""The Avro format: schemas, and conversion of values to objects and Arrow columns and back."""
