"""The calls of `KafkaProducer`, generated from `_async` by `scripts/twins.py`."""
