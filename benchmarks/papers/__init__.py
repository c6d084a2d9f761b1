"""Measure the papers' tables again and compare them with the published figures.

Run it with `make papers ARGS=hmnb` or `python -m benchmarks.papers hmnb`.
"""
