"""The filter: read a record, predict it, join it to its label, train, and write the outputs."""
