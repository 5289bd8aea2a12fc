"""aiokafka's import path for `NewTopic`; a separate file, so that type checkers find it."""

from kafka.admin import NewTopic as NewTopic
