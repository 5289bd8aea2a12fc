"""``python -m kafka.admin``: runs the command ``kafka``, which accepts kafka-python's admin commands and arguments."""

from kafka_columnar import main

if __name__ == "__main__":
    main()
