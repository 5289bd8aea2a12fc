"""The methods of `AsyncKafkaProducer`; `scripts/twins.py` generates those of `KafkaProducer` in `_sync` from them."""
