"""kafka-python's import path of `Future`, from 1.0 on."""

from kafka.legacy.future import Future as Future
