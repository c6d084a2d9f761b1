"""The daemons: settings become a running loop with logs, metrics and health."""
