"""An import path of `NewTopic`, as a file for type checkers."""

from kafka.admin import NewTopic as NewTopic
