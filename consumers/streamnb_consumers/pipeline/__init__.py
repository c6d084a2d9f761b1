"""The filter: a record is read, decided on, joined to its label, learned."""
