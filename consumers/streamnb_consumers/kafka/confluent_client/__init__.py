"""Driver for confluent-kafka."""
