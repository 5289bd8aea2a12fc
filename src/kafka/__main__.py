"""Runs the ``kafka`` command as ``python -m kafka``."""

from kafka_columnar import main

if __name__ == "__main__":
    main()
