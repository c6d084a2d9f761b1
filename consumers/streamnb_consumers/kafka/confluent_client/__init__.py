"""Kafka through confluent-kafka, in groups of the broker's own protocol (KIP-848)."""
