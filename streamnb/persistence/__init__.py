"""Model files, and models added to one another."""
