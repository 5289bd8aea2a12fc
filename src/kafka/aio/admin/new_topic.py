"""aiokafka's import path of `NewTopic`; a file, so that type checkers find it."""

from kafka.admin import NewTopic as NewTopic
