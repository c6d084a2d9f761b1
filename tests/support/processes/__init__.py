"""Programs whose threads are inside a batch when the process ends, or forks."""
