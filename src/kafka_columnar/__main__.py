"""``python -m kafka_columnar``: the command ``kafka``, even if the package `kafka` belongs to another distribution."""

from kafka_columnar import main

if __name__ == "__main__":
    main()
