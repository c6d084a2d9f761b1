"""Driver for confluent-kafka, with the consumer group protocol of KIP-848."""
