"""Kafka topics as source and sink. Only this package imports a Kafka client."""
