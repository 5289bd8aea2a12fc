"""``python -m kafka``: the same as the command ``kafka``."""

from kafka_columnar import main

if __name__ == "__main__":
    main()
