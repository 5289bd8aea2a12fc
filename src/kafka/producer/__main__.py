"""``python -m kafka.producer``: ``kafka produce``, as kafka-python's own command line."""

from kafka_columnar import main

if __name__ == "__main__":
    main("produce")
