"""An import path of `NewTopic`."""

from kafka.admin import NewTopic as NewTopic
