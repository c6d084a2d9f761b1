"""Driver for kafka-python, with the workarounds that exactly-once processing needs."""
