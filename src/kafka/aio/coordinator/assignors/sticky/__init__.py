"""aiokafka's import path of the sticky assignor."""
