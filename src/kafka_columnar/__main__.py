"""``python -m kafka_columnar``: the command ``kafka``, also where the package `kafka` is somebody else's."""

from kafka_columnar import main

if __name__ == "__main__":
    main()
