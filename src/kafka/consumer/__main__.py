"""``python -m kafka.consumer`` runs ``kafka consume``, following topics from their end, as in kafka-python."""

from kafka_columnar import main

if __name__ == "__main__":
    main("consume", "--follow", "--from", "latest")
