"""What is chosen along the stream: thresholds, schedules, records of predictions."""
