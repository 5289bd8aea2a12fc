"""``python -m kafka.producer``: runs ``kafka produce``, as in kafka-python."""

from kafka_columnar import main

if __name__ == "__main__":
    main("produce")
