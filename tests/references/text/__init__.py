"""Slow literal versions of the models: read from the equations alone."""
