"""``python -m kafka.admin``: the command ``kafka``, whose commands and arguments kafka-python's own admin line has."""

from kafka_columnar import main

if __name__ == "__main__":
    main()
