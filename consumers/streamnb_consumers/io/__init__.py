"""What the daemon asks of sources and sinks, and those that need no broker."""
