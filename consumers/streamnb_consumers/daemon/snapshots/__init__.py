"""Snapshots of a filter: kept in a folder of its own, and shared by the workers of a group."""
