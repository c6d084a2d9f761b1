"""Snapshots of a filter: in its own folder, and shared by the workers of a group."""
