"""``python -m kafka``: the same as the command ``kafka``."""

from kafka.cli import main

if __name__ == "__main__":
    main()
