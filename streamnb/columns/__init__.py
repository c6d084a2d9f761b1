"""Messages that map attributes to values: reading, counts, weights."""
