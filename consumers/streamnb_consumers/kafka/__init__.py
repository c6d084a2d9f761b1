"""Topics as source and sink; the only room that imports a client of Kafka."""
