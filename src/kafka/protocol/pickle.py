"""kafka-python's import path of what let methods be pickled under Python 2; today's Python needs nothing."""
