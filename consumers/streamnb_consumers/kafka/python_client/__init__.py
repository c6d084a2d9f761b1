"""Kafka through kafka-python: the driver, and what that client needs to be exactly once."""
