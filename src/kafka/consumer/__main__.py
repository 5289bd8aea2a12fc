"""``python -m kafka.consumer``: ``kafka consume``, following topics from their end, as kafka-python's does."""

from kafka_columnar import main

if __name__ == "__main__":
    main("consume", "--follow", "--from", "latest")
