"""Brokers of other kinds than the plain one of `support.broker`."""
