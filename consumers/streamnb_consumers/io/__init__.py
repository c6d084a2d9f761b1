"""Protocols of sources and sinks, and those that need no broker."""
