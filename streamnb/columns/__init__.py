"""Models of attribute tables: reading rows, their state, and weights of attributes."""
